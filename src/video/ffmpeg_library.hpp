// SPDX-License-Identifier: MIT
#pragma once
extern "C" {
#include <libavcodec/avcodec.h>
#include <libavfilter/avfilter.h>
#include <libavfilter/buffersink.h>
#include <libavfilter/buffersrc.h>
#include <libavformat/avformat.h>
#include <libavutil/crc.h>
#include <libavutil/opt.h>
#include <libavutil/pixdesc.h>
#include <libswscale/swscale.h>
}

/// FFmpeg's libraries, which are loaded on first use. With their dependencies they are about two hundred, and
/// most programs do not need them.
namespace parafield::video {

#if LIBAVFORMAT_VERSION_MAJOR >= 61
#define PF_FFMPEG_SIDE_DATA(F) F(av_packet_side_data_get)
#else
#define PF_FFMPEG_SIDE_DATA(F) F(av_stream_get_side_data)
#endif
// clang-format off
#define PF_FFMPEG_FUNCTIONS(F)                                                                               \
  F(av_buffer_create) F(av_crc) F(av_crc_get_table) F(av_d2q) F(av_dict_get) F(av_find_best_stream)          \
  F(av_find_input_format) F(av_frame_alloc) F(av_frame_free) F(av_frame_get_buffer)                          \
  F(av_frame_get_side_data) F(av_frame_make_writable) F(av_frame_move_ref) F(av_frame_unref) F(av_freep)     \
  F(av_get_pix_fmt_name) F(av_guess_frame_rate) F(av_log_get_level) F(av_log_set_level) F(av_malloc)         \
  F(av_opt_set) F(av_opt_set_int) F(av_parser_close) F(av_parser_init) F(av_parser_parse2)                   \
  F(av_packet_alloc) F(av_packet_free) F(av_packet_rescale_ts) F(av_packet_unref) F(av_pix_fmt_desc_get)     \
  F(av_read_frame) F(av_strerror) F(av_write_frame) F(av_write_trailer) F(avcodec_alloc_context3)            \
  F(avcodec_descriptor_get) F(avcodec_descriptor_get_by_name) F(avcodec_find_best_pix_fmt_of_list)           \
  F(avcodec_find_encoder) F(avcodec_find_encoder_by_name) F(avcodec_flush_buffers) F(avcodec_free_context)   \
  F(avcodec_get_name) F(avcodec_open2) F(avcodec_parameters_from_context) F(avcodec_parameters_to_context)   \
  F(avcodec_receive_frame) F(avcodec_receive_packet) F(avcodec_send_frame) F(avcodec_send_packet)            \
  F(avformat_alloc_context) F(avformat_alloc_output_context2) F(avformat_close_input)                        \
  F(avformat_find_stream_info) F(avformat_free_context) F(avformat_index_get_entries_count)                  \
  F(avformat_new_stream) F(avformat_open_input) F(avformat_query_codec) F(avformat_write_header)             \
  F(avio_alloc_context) F(avio_context_free) F(avio_flush) F(avio_seek) F(sws_alloc_context)                 \
  F(sws_freeContext) F(sws_getCoefficients) F(sws_init_context) F(sws_scale_frame)                           \
  F(sws_setColorspaceDetails) PF_FFMPEG_SIDE_DATA(F)
#define PF_FFMPEG_FILTER_FUNCTIONS(F)                                                                        \
  F(av_buffersink_get_frame) F(av_buffersrc_add_frame_flags) F(avfilter_get_by_name) F(avfilter_graph_alloc) \
  F(avfilter_graph_config) F(avfilter_graph_create_filter) F(avfilter_graph_free)                            \
  F(avfilter_graph_set_auto_convert) F(avfilter_link)
// clang-format on

/// FFmpeg's functions under their own names, which hide FFmpeg's declarations in this namespace. They are
/// null until begin_ffmpeg() has returned, functions of filters until begin_filters() has.
#define PF_POINTER(name) inline decltype(&::name) name = nullptr;
PF_FFMPEG_FUNCTIONS(PF_POINTER)
PF_FFMPEG_FILTER_FUNCTIONS(PF_POINTER)
#undef PF_POINTER

/// Loads FFmpeg. Call it before anything else of FFmpeg. FFmpeg prints messages to standard error, where a
/// library should print nothing, so only the most severe ones are kept, unless the program has set a log
/// level itself. Throws Error(unsupported) if the libraries cannot be loaded.
void begin_ffmpeg();

/// Loads FFmpeg's filters. Returns whether they can be loaded.
bool begin_filters();

/// Registers FFmpeg's devices, such as cameras, as input formats. Throws Error(unsupported) if their library
/// cannot be loaded.
void register_devices();

}  // namespace parafield::video
