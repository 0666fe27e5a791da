/* SPDX-License-Identifier: MIT */
#pragma once
#include <stddef.h>
#include <stdint.h>

#include "parafield/export.hpp"

/* The C interface of libparafield.so: optical flow, stereo, motion detection and heights of clouds for
 * programs in any language. Later versions only add to it: functions, structs and constants keep their
 * names, layouts and meanings. docs/c.md has examples.
 *
 * Errors. A function that can fail returns PARAFIELD_OK or the code of an error, and parafield_error_text()
 * then returns one line that names the value and the allowed range. A call that fails because of its
 * arguments does not change the estimator. No C++ exception leaves the library.
 *
 * Threads. Any number of threads may call the functions. One estimator, or one parafield_heights, may be
 * used by one thread at a time: a call that finds it in use returns PARAFIELD_INVALID_ARGUMENT. Only
 * parafield_cancel may be called at any time.
 *
 * Ownership. Frames, results, options and texts are in the caller's memory. Everything that a call is given
 * may be freed or changed when the call returns, with two exceptions: frames and results in the memory of a
 * CUDA device (see parafield_frame), and results of estimators with the option pipelined (see
 * parafield_push).
 *
 * Structs. Those that begin with `size_t size` may get more fields later. Set `size` to sizeof the struct
 * and all other fields to 0 or a value; a designated initializer does both. The structs without `size` never
 * change. */

#ifdef __cplusplus
extern "C" {
#endif

/* Result of a call. */
typedef int32_t parafield_code;
enum {
  PARAFIELD_OK = 0,
  PARAFIELD_INVALID_ARGUMENT = 1, /* a value, size, option or pointer that is not allowed */
  PARAFIELD_FORMAT = 2,           /* a file that is damaged or of the wrong kind */
  PARAFIELD_UNSUPPORTED = 3,      /* a feature that this library, build or machine lacks */
  PARAFIELD_FILE = 4,             /* a file that cannot be opened, read or written */
  PARAFIELD_DEVICE = 5,           /* a device that is missing or has failed */
  PARAFIELD_MEMORY = 6,           /* not enough memory */
  PARAFIELD_CANCELLED = 7,        /* parafield_cancel ended the call */
  PARAFIELD_TOO_SMALL = 8,        /* the caller's buffer is too small; the needed length was returned */
  PARAFIELD_FAILED = 9            /* any other failure; the text says which */
};

/* What an estimator estimates. */
enum {
  PARAFIELD_FLOW = 1,     /* optical flow of consecutive frames */
  PARAFIELD_STEREO = 2,   /* disparities of a rectified pair */
  PARAFIELD_DETECTION = 3 /* motion masks of a still camera */
};

/* Pixel format of a frame: bits per channel, channels interleaved. */
enum {
  PARAFIELD_GRAY_U8 = 0,
  PARAFIELD_GRAY_U16 = 1,
  PARAFIELD_GRAY_F32 = 2,
  PARAFIELD_RGB_U8 = 3,
  PARAFIELD_RGB_U16 = 4,
  PARAFIELD_RGB_F32 = 5,
  PARAFIELD_BGR_U8 = 6,
  PARAFIELD_RGBA_U8 = 7,
  PARAFIELD_BGRA_U8 = 8
};

/* Where pixels are. */
enum {
  PARAFIELD_HOST = 0,
  PARAFIELD_PINNED = 1, /* page-locked host memory, which the GPU reads directly */
  PARAFIELD_CUDA = 2    /* the memory of a CUDA device */
};

/* An image, which is only read. If it is in the memory of a CUDA device, the call returns before the device
 * has read it: it must stay unchanged until parafield_synchronize returns, or until work runs that was
 * submitted to the estimator's stream after the call. A NaN pixel has no weight, and the result there is not
 * valid. */
typedef struct parafield_frame {
  size_t size;      /* sizeof(parafield_frame) */
  const void* data; /* the upper left pixel */
  ptrdiff_t pitch;  /* bytes from one row to the next; 0 = no gap between rows */
  int32_t width;    /* px */
  int32_t height;   /* px */
  int32_t format;   /* PARAFIELD_GRAY_U8 ... */
  int32_t memory;   /* PARAFIELD_HOST ... */
  int32_t device;   /* index of the CUDA device, if the memory is a device's */
  /* The values of black and white. Both 0: 0..255 for 8 bits, otherwise found in the first frame's values. */
  float black;
  float white;
  int32_t reserved; /* 0 */
} parafield_frame;

/* A plane of a result. */
typedef struct parafield_plane {
  void* data;      /* the upper left value; null = no plane */
  ptrdiff_t pitch; /* bytes from one row to the next; 0 = no gap between rows */
} parafield_plane;

/* A result, and where a call writes it. All planes are in the same memory as the frames and have their size.
 * Planes that are null are not written. A result in the memory of a CUDA device is written after the call
 * has returned, on the estimator's stream: parafield_synchronize waits for it. */
typedef struct parafield_field {
  size_t size;    /* sizeof(parafield_field) */
  int32_t width;  /* px */
  int32_t height; /* px */
  int32_t memory; /* PARAFIELD_HOST ... */
  int32_t device; /* index of the CUDA device, if the memory is a device's */
  /* Flow: float, px per frame to the right and down. Frame 0 at x matches frame 1 at x + flow. */
  parafield_plane u;
  parafield_plane v;
  /* Stereo: float, px: x in the right image = x in the left image - d. The depth is focal length in px times
   * baseline / d, for cameras whose principal points agree. */
  parafield_plane d;
  parafield_plane moving;     /* detection: uint8_t, 1 where something moves or has just left */
  parafield_plane valid;      /* uint8_t, 1 where the result is reliable, otherwise 0 */
  parafield_plane confidence; /* float, >= 0, grows with certainty; each method has its own scale */
} parafield_field;

/* An option by name and text, such as {"levels", "4"}: everything that `parafield methods NAME` lists, and
 * see parafield_settings. In names, `_` and `-` are equivalent. */
typedef struct parafield_option {
  const char* name;
  const char* value;
} parafield_option;

/* Called with the completed share of a solve, 0 to 1, which never falls, at most 50 times a solve, by slow
 * methods only. On the CPU the solving thread calls it, on CUDA a thread of the driver; therefore it must
 * not call CUDA. It must return, not jump or throw. Of this library it may call parafield_cancel. */
typedef void (*parafield_progress)(double share, void* data);

/* How to make an estimator. The options are the method's parameters, the task's options (fb_check, fill,
 * min_confidence and others; parafield_methods lists them) and:
 *   method            name of the method; default: the first of the task
 *   preset            name of the method's preset, which the other options then change
 *   device            auto (default: the first usable CUDA device, otherwise the CPU), cpu, cuda, cuda:N
 *   threads           threads of the CPU; 0 = one for each core (default)
 *   energies          none (default), result or sweeps: what parafield_energies returns
 *   examine_frames    true: look for cuts and missing texture in host frames; parafield_state returns them
 *   throughput        true: for three or more estimators that share a GPU
 *   pipelined         flow, detection: true: see parafield_push
 *   valid, confidence flow: false: results have no such plane
 *   background        detection: file of parafield_save_background that the detector starts from */
typedef struct parafield_settings {
  size_t size;                     /* sizeof(parafield_settings) */
  int32_t task;                    /* PARAFIELD_FLOW ... */
  int32_t width;                   /* of the frames, px */
  int32_t height;                  /* of the frames, px */
  int32_t option_count;            /* length of `options` */
  const parafield_option* options; /* in any order, each name once; null if there are none */
  void* stream;                    /* a cudaStream_t of the caller to work on; null = the estimator's own */
  parafield_progress progress;     /* null = no calls */
  void* progress_data;             /* passed to `progress` */
  /* Detection: of the frames' size, in host memory. Only where it is not 0 can something move; null =
   * everywhere. It is copied. */
  const uint8_t* region;
  ptrdiff_t region_pitch; /* bytes from one row to the next; 0 = no gap between rows */
} parafield_settings;

/* A feature of one frame and its flow to the next, px: x to the right, y down, (0, 0) = center of the first
 * pixel. */
typedef struct parafield_track {
  float x, y, u, v;
} parafield_track;

/* A camera's rotation from one frame to the next: rotation vector (axis times angle, rad) in the camera's
 * coordinates (x right, y down, z forward), focal lengths and principal point, px. */
typedef struct parafield_rotation {
  float x, y, z, fx, fy, cx, cy;
} parafield_rotation;

/* What parafield_solve takes. What a method does not use is an error to give. */
typedef struct parafield_input {
  size_t size;                          /* sizeof(parafield_input) */
  const parafield_frame* const* frames; /* in time order, as many as the method takes; stereo: left, right */
  size_t frame_count;
  const parafield_field* start; /* first guess of u and v, d, or moving, in the frames' memory; null = none */
  const parafield_track* tracks; /* flow: features in the frames' memory; null = the method finds its own */
  size_t track_count;
  const parafield_rotation* rotation; /* flow: null = unknown */
} parafield_input;

/* Bounding box of a connected region (8 neighbors) of a mask, px. `area` is its number of pixels. */
typedef struct parafield_box {
  int32_t x, y, width, height, area;
} parafield_box;

/* Solves one task by one method for frames of one size on one device. It allocates in its first calls only.
 * */
typedef struct parafield_estimator parafield_estimator;

/* Averages heights of cloud tops along their motion. */
typedef struct parafield_heights parafield_heights;

/* Version of the loaded library, such as "0.1.0". The text belongs to the library and is always valid.
 * Cannot fail. */
PARAFIELD_API const char* parafield_version(void);

/* The error of this thread's last failed call: one line of UTF-8, at most 1023 bytes; "" if none has failed.
 * The text belongs to the library and is valid until another call of the same thread fails. Cannot fail. */
PARAFIELD_API const char* parafield_error_text(void);

/* Writes the usable devices as a JSON object, the CPU first: {"devices": [{"device": "cpu", "device_name",
 * "instruction_set", "threads" (CUDA: "multiprocessors"), "memory_bytes"}, ...], "why_no_cuda": text or
 * null}.
 *
 * This and the other functions that write a text write at most `capacity` bytes to `json`, with a 0 at the
 * end, and set *length to the number of bytes without the 0. With a null `json` and capacity 0 they only set
 * *length. If the buffer is too small, they write nothing and return PARAFIELD_TOO_SMALL. Other errors:
 * PARAFIELD_INVALID_ARGUMENT for a null pointer, PARAFIELD_MEMORY. */
PARAFIELD_API parafield_code parafield_devices(char* json, size_t capacity, size_t* length);

/* Writes all tasks, methods, parameters and presets as a JSON object: {"flow": {"methods": [{"name", "help",
 * "source", "frames", "parameters": [...], "presets": [...]}], "options": [...]}, "stereo": ...,
 * "detection": ...}. A parameter or option is {"name", "type", "choices" or "min" and "max", "default",
 * "unit", "help"}. It is the same in every call. Buffer and errors are as in parafield_devices. */
PARAFIELD_API parafield_code parafield_methods(char* json, size_t capacity, size_t* length);

/* Initializes a device ("cuda:0"), which otherwise happens on its first use: 0.1 to 0.3 s for CUDA, nothing
 * for the CPU. Errors: PARAFIELD_INVALID_ARGUMENT for a null or unknown name, PARAFIELD_DEVICE if it cannot
 * be used. */
PARAFIELD_API parafield_code parafield_start(const char* device);

/* Makes all work submitted to the CUDA stream `waiting` from now on start after the work already submitted
 * to `awaited`, without blocking the thread. Both are cudaStream_t of the device; pass cudaStreamLegacy for
 * the legacy default stream. Does nothing on the CPU. Errors: PARAFIELD_INVALID_ARGUMENT for a null stream
 * on a CUDA device or an unknown device, PARAFIELD_DEVICE. */
PARAFIELD_API parafield_code parafield_wait_for(const char* device, void* waiting, void* awaited);

/* Makes an estimator, which the caller destroys, and sets *estimator to it, or to null if the call fails.
 * Errors: PARAFIELD_INVALID_ARGUMENT for unknown options, values out of range, a side below 1 or above
 * 500000 px, more than 2^29 px, or null pointers; PARAFIELD_UNSUPPORTED if `settings` is from a newer header
 * and sets a field that this library does not know; PARAFIELD_DEVICE; PARAFIELD_MEMORY; PARAFIELD_FILE and
 * PARAFIELD_FORMAT for the background. */
PARAFIELD_API parafield_code parafield_create(const parafield_settings* settings,
                                              parafield_estimator** estimator);

/* Waits for the estimator's work on a device and frees the estimator. Null is allowed. Errors:
 * PARAFIELD_INVALID_ARGUMENT if a call is using it; it is not freed then. */
PARAFIELD_API parafield_code parafield_destroy(parafield_estimator* estimator);

/* Solves for the frames of `input` and writes the planes of `output`. Starts a new sequence. Errors:
 * PARAFIELD_INVALID_ARGUMENT for frames or planes of another size than the estimator's or in another memory,
 * a wrong number of frames, a pitch smaller than a row, a plane of another task, null pointers;
 * PARAFIELD_UNSUPPORTED as in parafield_create; PARAFIELD_CANCELLED; PARAFIELD_DEVICE; PARAFIELD_MEMORY. */
PARAFIELD_API parafield_code parafield_solve(parafield_estimator* estimator, const parafield_input* input,
                                             const parafield_field* output);

/* Flow and detection: adds the next frame of a sequence. Once enough frames have arrived, it writes the
 * newest frames' result to `output` and sets *complete to 1; before, it sets 0 and writes nothing.
 *
 * With the option pipelined, a GPU works on one frame while the next is uploaded and the last result is
 * downloaded: *complete says whether the output of the call before is complete now, and parafield_finish
 * completes the last one. The planes of an output must exist until then; parafield_reset, parafield_solve
 * and parafield_destroy drop it.
 *
 * Errors are as in parafield_solve, and PARAFIELD_UNSUPPORTED for stereo. */
PARAFIELD_API parafield_code parafield_push(parafield_estimator* estimator, const parafield_frame* frame,
                                            const parafield_field* output, int32_t* complete);

/* Stereo: adds the next pair of a stereo camera's video and writes its disparities. They equal those of
 * parafield_solve unless the parameter noise averages frames over time. Errors are as in parafield_solve,
 * and PARAFIELD_UNSUPPORTED for flow and detection. */
PARAFIELD_API parafield_code parafield_push_pair(parafield_estimator* estimator, const parafield_frame* left,
                                                 const parafield_frame* right, const parafield_field* output);

/* Waits for the last result of a pipelined estimator, and sets *complete to whether there was one that is
 * complete in its output now. Errors: PARAFIELD_INVALID_ARGUMENT, PARAFIELD_UNSUPPORTED for stereo,
 * PARAFIELD_DEVICE. */
PARAFIELD_API parafield_code parafield_finish(parafield_estimator* estimator, int32_t* complete);

/* Forgets the frames pushed so far, a range found in them, a learned background, and a cancellation. Errors:
 * PARAFIELD_INVALID_ARGUMENT, PARAFIELD_DEVICE. */
PARAFIELD_API parafield_code parafield_reset(parafield_estimator* estimator);

/* Makes the running call and all later ones return PARAFIELD_CANCELLED, until parafield_reset. Any thread
 * may call it at any time before the estimator is destroyed. On the CPU the running call ends within a step
 * of its method; on CUDA the work that the device has begun runs to its end. Errors:
 * PARAFIELD_INVALID_ARGUMENT for null. */
PARAFIELD_API parafield_code parafield_cancel(parafield_estimator* estimator);

/* Waits until results in the memory of a CUDA device are complete. Errors: PARAFIELD_INVALID_ARGUMENT also
 * for what only the solve finds out, such as too many labels; PARAFIELD_DEVICE. */
PARAFIELD_API parafield_code parafield_synchronize(parafield_estimator* estimator);

/* Writes the energies of the newest solve, as the option energies asked for them: none for methods that
 * minimize none. Writes at most `capacity` values and sets *count; buffer and errors are as in
 * parafield_devices. */
PARAFIELD_API parafield_code parafield_energies(parafield_estimator* estimator, double* values,
                                                size_t capacity, size_t* count);

/* Writes what the estimator is and has found, as a JSON object: "task", "method", "parameters" (with those
 * that were found in the frames, such as stereo's number of disparities), "device", "width", "height" (px),
 * "range" (of 16-bit and float frames that named none: [black, white], otherwise null), "frames_state" (of
 * the last result, with the option examine_frames: usable, no texture or cut, otherwise unknown), "blocks"
 * (that the image is solved in) and "workspace_bytes" (memory of the device that the estimator holds).
 * Buffer and errors are as in parafield_devices. */
PARAFIELD_API parafield_code parafield_state(parafield_estimator* estimator, char* json, size_t capacity,
                                             size_t* length);

/* Sets *stream to the cudaStream_t that results are written on, which belongs to the estimator or to the
 * caller who gave it; to null on the CPU. Errors: PARAFIELD_INVALID_ARGUMENT for null pointers. */
PARAFIELD_API parafield_code parafield_stream(parafield_estimator* estimator, void** stream);

/* Detection by a method that learns a background: writes what it has learned to a file, for the option
 * background. Waits for the newest solve. Errors: PARAFIELD_UNSUPPORTED for other methods and tasks,
 * PARAFIELD_INVALID_ARGUMENT before the first result, PARAFIELD_FILE. */
PARAFIELD_API parafield_code parafield_save_background(parafield_estimator* estimator, const char* path);

/* Finds features of frame0 and their flow to frame1, px, and writes them to host memory. Options are device,
 * threads and the parameters of feature tracking (max_features, track_window and others, as in
 * direct-interpolation). There are at most max_features tracks, 1000 by default. Frames may be on a device;
 * they must be complete. Writes at most `capacity` tracks and sets *count; buffer as in parafield_devices.
 * Errors as in parafield_create and parafield_devices. It cannot be cancelled. */
PARAFIELD_API parafield_code parafield_find_tracks(const parafield_frame* frame0,
                                                   const parafield_frame* frame1,
                                                   const parafield_option* options, int32_t option_count,
                                                   parafield_track* tracks, size_t capacity, size_t* count);

/* Finds the bounding boxes of the connected regions of at least `min_area` px (>= 1) of a mask's plane
 * `moving`, in the order of their first pixels, where the mask is: it must be complete. Writes at most
 * `capacity` boxes to host memory and sets *count; buffer and errors are as in parafield_devices. */
PARAFIELD_API parafield_code parafield_find_boxes(const parafield_field* mask, int32_t min_area,
                                                  parafield_box* boxes, size_t capacity, size_t* count);

/* Makes a filter of heights, which the caller destroys, and sets *heights to it, or to null if the call
 * fails. `frames`: approximate number of frames in a mean, 1..255; 1 = no smoothing. `tolerance`: >= 0, in
 * the unit of the heights: a height that differs more from the mean starts a new mean. Errors:
 * PARAFIELD_INVALID_ARGUMENT, PARAFIELD_MEMORY. */
PARAFIELD_API parafield_code parafield_heights_create(int32_t width, int32_t height, int32_t frames,
                                                      float tolerance, parafield_heights** heights);

/* Frees a filter. Null is allowed. Errors: PARAFIELD_INVALID_ARGUMENT if a call is using it. */
PARAFIELD_API parafield_code parafield_heights_destroy(parafield_heights* heights);

/* Adds a frame's heights, scale * d + offset, and writes the means along the motion to `result`, in the unit
 * of `scale`; NaN where there is no height. The disparities (plane d, and valid if it has one) and `result`
 * are in host memory and of the filter's size; `result_pitch` is in bytes, 0 = no gap between rows. Errors:
 * PARAFIELD_INVALID_ARGUMENT, also for a scale of 0, or a scale or offset that is not finite. */
PARAFIELD_API parafield_code parafield_heights_add(parafield_heights* heights,
                                                   const parafield_field* disparity, double scale,
                                                   double offset, float* result, ptrdiff_t result_pitch);

/* Moves the means along the flow (planes u and v, and valid if it has one, in host memory) to the next
 * frame. Errors: PARAFIELD_INVALID_ARGUMENT. */
PARAFIELD_API parafield_code parafield_heights_move(parafield_heights* heights, const parafield_field* flow);

#ifdef __cplusplus
}
#endif
