// SPDX-License-Identifier: MIT
// The server: access control, routes, and answers as HTTP. A page of another site may make a browser send
// requests here. Therefore each request must name this server as its host and, if the browser sends one, as
// its origin. A connection serves only one request, so that no part of a refused request is read as another.
#include <httplib.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>

#include "serve/answers.hpp"

namespace parafield::command {
namespace {

using HttpRequest = httplib::Request;
using HttpResponse = httplib::Response;

constexpr const char *json_type = "application/json", *bytes_type = "application/octet-stream";
constexpr const char* server_address = "127.0.0.1";

struct Status {
  static constexpr int go_on = 100, ok = 200, cancelled = 204, bad_request = 400, forbidden = 403,
                       not_found = 404, not_allowed = 405, too_large = 413, unsupported = 415, failed = 500,
                       busy = 503;
};

void answer_json(HttpResponse& response, const Json& json, int status = Status::ok) {
  response.status = status;
  response.set_content(json.dump(-1, ' ', false, Json::error_handler_t::replace), json_type);
}

void answer_error(HttpResponse& response, int status, const std::string& message) {
  answer_json(response, {{"error", message}}, status);
}

void answer_bytes(HttpResponse& response, std::string bytes) {
  response.set_header("Content-Type", bytes_type);
  response.body = std::move(bytes);
  response.status = Status::ok;
}

/// Calls work(). Errors become answers.
template <class Work>
void answering(HttpResponse& response, Work work) {
  try {
    work();
  } catch (const Busy& busy) {
    answer_error(response, Status::busy, busy.message);
  } catch (const Error& error) {
    const ErrorCode code = error.code();
    if (code == ErrorCode::cancelled) {  // browsers log error statuses to their console
      response.status = Status::cancelled;
      return;
    }
    answer_error(response,
                 code == ErrorCode::device || code == ErrorCode::memory ? Status::failed
                 : code == ErrorCode::file                              ? Status::not_found
                                                                        : Status::bad_request,
                 error.what());
  } catch (const std::bad_alloc&) {
    answer_error(response, Status::failed, "out of memory");
  } catch (const std::exception& error) {
    answer_error(response, Status::failed, error.what());
  }
}

/// Returns why a request is refused, judged by its headers, or "" if it is accepted. `hosts` are this
/// server's names.
std::string refusal(const HttpRequest& request, const std::vector<std::string>& hosts) {
  const auto lower = [](std::string text) {
    std::ranges::transform(text, text.begin(), [](unsigned char c) { return char(std::tolower(c)); });
    return text;
  };
  const auto is_own = [&](const std::string& host) {
    return std::ranges::find(hosts, lower(host)) != hosts.end();
  };
  const std::string host = request.get_header_value("Host"), origin = request.get_header_value("Origin");
  if (request.get_header_value_count("Host") != 1 || !is_own(host))
    return fmt::format("the host {} is not this server; it is {}", detail::quoted(host), hosts[0]);
  constexpr std::string_view scheme = "http://";
  if (request.has_header("Origin") && (request.get_header_value_count("Origin") != 1 ||
                                       !origin.starts_with(scheme) || !is_own(origin.substr(scheme.size()))))
    return fmt::format("a page of {} must not use this server", detail::quoted(origin));
  const std::string site = request.get_header_value("Sec-Fetch-Site");
  if (!site.empty() && site != "same-origin" && site != "none")
    return "a page of another site must not use this server";
  return {};
}

/// Reads the body and returns whether it fits. A body that is too large is discarded but still read for up to
/// 10 s, because the client reads the answer only after sending it.
bool read_body(const HttpRequest& request, const httplib::ContentReader& reader, std::size_t most,
               std::string& body) {
  constexpr auto longest = std::chrono::seconds(10);
  const auto begin = std::chrono::steady_clock::now();
  std::size_t told = 0;
  if (request.has_header("Content-Length"))
    told = std::size_t(std::strtoull(request.get_header_value("Content-Length").c_str(), nullptr, 10));
  bool fits = told <= most;
  if (fits) body.reserve(told);
  reader([&](const char* data, std::size_t count) {
    fits = fits && body.size() + count <= most;
    if (fits)
      body.append(data, count);
    else
      std::string().swap(body);
    return fits || std::chrono::steady_clock::now() - begin < longest;
  });
  return fits;
}

class Server {
 public:
  explicit Server(const ServeOptions& options) : options_(options) {
    server_.new_task_queue = [] { return new httplib::ThreadPool(16); };
    server_.set_keep_alive_max_count(1);
    server_.set_tcp_nodelay(true);
    // Not SO_REUSEPORT, which would let two servers share a port.
    server_.set_socket_options([](auto socket) {
      const int yes = 1;
      setsockopt(socket, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof(yes));
    });
    server_.set_pre_routing_handler([this](const HttpRequest& request, HttpResponse& response) {
      const std::string why = refusal(request, hosts_);
      if (!why.empty())
        answer_error(response, Status::forbidden, why);
      else if (request.method != "GET" && request.method != "HEAD" && request.method != "POST")
        answer_error(response, Status::not_allowed, "only GET, HEAD and POST are answered");
      else
        return httplib::Server::HandlerResponse::Unhandled;
      return httplib::Server::HandlerResponse::Handled;
    });
    server_.set_expect_100_continue_handler([this](const HttpRequest& request, HttpResponse& response) {
      const std::string why = refusal(request, hosts_);
      if (why.empty()) return Status::go_on;
      answer_error(response, Status::forbidden, why);
      return Status::forbidden;
    });
    server_.set_post_routing_handler(
        [](const HttpRequest&, HttpResponse& response) { add_headers(response); });
    server_.set_error_handler([](const HttpRequest& request, HttpResponse& response) {
      if (response.body.empty())
        answer_error(response, response.status,
                     response.status == Status::not_found
                         ? fmt::format("there is nothing at {}", detail::quoted(request.path))
                         : fmt::format("HTTP error {}", response.status));
      add_headers(response);
    });
    add_routes();
  }

  /// Binds the port and returns the page's address.
  std::string bind() {
    int port = options_.port;
    errno = 0;
    if (port == 0 ? (port = server_.bind_to_any_port(server_address)) <= 0
                  : !server_.bind_to_port(server_address, port))
      throw Error(ErrorCode::file, fmt::format("cannot use port {} of {}: {}; --port 0 takes a free one",
                                               options_.port, server_address, std::strerror(errno)));
    for (const char* name : {server_address, "localhost"}) {
      hosts_.push_back(fmt::format("{}:{}", name, port));
      if (port == 80) hosts_.emplace_back(name);
    }
    return fmt::format("http://{}/", hosts_[0]);
  }

  void listen() {
    if (!server_.listen_after_bind()) throw Error(ErrorCode::file, "the server has ended: its socket failed");
  }

 private:
  /// Isolates the page: it loads nothing from other sites, and no other page can embed or read it.
  static void add_headers(HttpResponse& response) {
    constexpr std::pair<const char*, const char*> headers[] = {
        {"Content-Security-Policy", "default-src 'none'; frame-ancestors 'none'"},
        {"X-Content-Type-Options", "nosniff"},
        {"X-Frame-Options", "DENY"},
        {"Referrer-Policy", "no-referrer"},
        {"Cross-Origin-Opener-Policy", "same-origin"},
        {"Cross-Origin-Resource-Policy", "same-origin"},
        {"Cache-Control", "no-store"}};
    for (const auto& [name, value] : headers)
      if (!response.has_header(name)) response.set_header(name, value);
  }

  /// Adds a route for GET: work(request, response) answers.
  template <class Work>
  void get(const char* path, Work work) {
    server_.Get(path, [work](const HttpRequest& request, HttpResponse& response) {
      answering(response, [&] { work(request, response); });
    });
  }

  /// Adds a route for POST whose request and answer are packed: work(packed request, job) returns the answer.
  template <class Work>
  void post_packed(const char* path, Work work) {
    server_.Post(path, [this, work](const HttpRequest& request, HttpResponse& response,
                                    const httplib::ContentReader& reader) {
      answering(response, [&] {
        std::string body;
        if (request.get_header_value("Content-Type") != bytes_type || request.has_header("Content-Encoding"))
          return answer_error(response, Status::unsupported,
                              fmt::format("a request must be {}, not encoded", bytes_type));
        ServeJobs::Job job(jobs_, request.get_param_value("job"));
        if (!read_body(request, reader, options_.bytes() + PackedRequest::most_json, body))
          return answer_error(response, Status::too_large,
                              fmt::format("the files are larger than {} MB, the most that --max-size allows",
                                          options_.max_size));
        answer_bytes(response, work(PackedRequest(body), job).packed());
      });
    });
  }

  void add_routes() {
    get("/", [](const HttpRequest&, HttpResponse& response) { answer_page(response); });
    get("/api/methods", [this](const HttpRequest&, HttpResponse& response) {
      answer_json(response, capabilities(options_));
    });
    get("/api/example", [this](const HttpRequest& request, HttpResponse& response) {
      ServeJobs::Job job(jobs_, request.get_param_value("job"));
      answer_bytes(response, example_frames(request.get_param_value("task"), job).packed());
    });
    get("/api/file", [this](const HttpRequest& request, HttpResponse& response) {
      const std::string name = request.get_param_value("name");
      answer_bytes(response, results_.file(request.get_param_value("result"), name));
      response.set_header("Content-Disposition", fmt::format("attachment; filename=\"{}\"", name));
    });
    get("/api/progress", [this](const HttpRequest& request, HttpResponse& response) {
      answer_json(response, jobs_.progress(request.get_param_value("job")));
    });
    post_packed("/api/frames", [this](const PackedRequest& request, ServeJobs::Job& job) {
      return show_frames(request, options_, job);
    });
    post_packed("/api/estimate", [this](const PackedRequest& request, ServeJobs::Job& job) {
      return estimate_for_page(request, options_, results_, job);
    });
    server_.Post("/api/cancel",
                 [this](const HttpRequest& request, HttpResponse& response, const httplib::ContentReader&) {
                   answer_json(response, {{"cancelled", jobs_.cancel(request.get_param_value("job"))}});
                 });
    // Without a content reader, cpp-httplib would store the whole body, whatever its length.
    server_.Post(".*", [](const HttpRequest& request, HttpResponse& response, const httplib::ContentReader&) {
      answer_error(response, Status::not_found,
                   fmt::format("there is nothing at {}", detail::quoted(request.path)));
    });
  }

  static void answer_page(HttpResponse& response) {
    const std::string nonce = random_word();
    constexpr std::string_view place = "@nonce@";
    std::string page(serve_page());
    for (auto at = page.find(place); at != page.npos; at = page.find(place, at))
      page.replace(at, place.size(), nonce);
    response.set_header("Content-Security-Policy",
                        fmt::format("default-src 'none'; script-src 'nonce-{0}'; style-src 'nonce-{0}'; "
                                    "img-src data: blob:; connect-src 'self'; base-uri 'none'; form-action "
                                    "'none'; frame-ancestors 'none'",
                                    nonce));
    response.set_content(page, "text/html; charset=utf-8");
    response.status = Status::ok;
  }

  const ServeOptions& options_;
  std::vector<std::string> hosts_;  // set before the first request
  ServeJobs jobs_;
  ServeResults results_;
  httplib::Server server_;
};

}  // namespace

void run_server(const ServeOptions& options) {
  Server server(options);
  const std::string address = server.bind();
  print(address + "\n");
  if (!options.quiet)
    note(fmt::format(
        "open this address in a browser on this machine; Ctrl-C ends the server. Files up to {} MB, "
        "frames up to {} million pixels",
        options.max_size, options.max_pixels));
  server.listen();
}

}  // namespace parafield::command
