# SPDX-License-Identifier: MIT
# Makes a program of the ```cpp blocks of pages: each block becomes a function, and main calls them in order.
#   awk -f snippets.awk PAGES > snippets.cpp
# A block with main() is a whole program. Includes move to the top, given.hpp has the names that blocks use
# and do not declare. A block behind the comment <!-- compiled, not run: REASON --> is not called.
function finish() {
  name = (whole ? "program" : "block") "_" ++count
  gsub(/int main\(\)/, "static int " name "()", body)
  if (whole) sub(/}\n$/, "return 0;\n}\n", body)
  else body = body "return 0;\n}\n"
  lines = sprintf("#line %d \"%s\"\n%s", first, page, body)
  functions = functions (whole ? lines : "static int " name "() {\n" lines)
  called = called (calls ? "  run(\"" page ":" first "\", " name ");\n" : "  (void)" name ";\n")
}
FNR == 1 { page = FILENAME; inside = 0; calls = 1 }
/^```/ && inside { if (cpp) finish(); inside = cpp = 0; calls = 1; next }
/^```/ { inside = 1; cpp = $0 == "```cpp"; first = FNR + 1; body = ""; whole = 0; next }
!inside && /^<!-- compiled, not run: .+ -->$/ { calls = 0 }
!inside && /^[^<]/ { calls = 1 }
!cpp { next }
/^#include </ { includes = includes $0 "\n"; body = body "\n"; next }
/int main\(\)/ { whole = 1 }
{ body = body $0 "\n" }
END { printf "%s#include \"docs/given.hpp\"\n\n%s\nvoid run_blocks() {\n%s}\n", includes, functions, called }
