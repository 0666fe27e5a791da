/* SPDX-License-Identifier: MIT */
/* Flow, stereo and motion detection: cc -std=c99 three_tasks.c $(pkg-config --cflags --libs parafield) */
#include <parafield/parafield.h>
#include <stdio.h>
#include <stdlib.h>

enum { W = 160, H = 120 };
static unsigned char first[H][W], second[H][W], moving[H][W];
static float u[H][W], v[H][W], d[H][W];

static void check(parafield_code code) {
  if (code == PARAFIELD_OK) return;
  fprintf(stderr, "%s\n", parafield_error_text());
  exit(1);
}

static void solve(int task, parafield_field output) {
  const parafield_option options[] = {{"device", "cpu"}}; /* also "method", "preset", "levels", ... */
  const parafield_settings settings = {sizeof settings, task, W, H, 1, options, .stream = NULL};
  const parafield_frame frame0 = {sizeof frame0, first, 0, W, H, PARAFIELD_GRAY_U8, .reserved = 0};
  const parafield_frame frame1 = {sizeof frame1, second, 0, W, H, PARAFIELD_GRAY_U8, .reserved = 0};
  const parafield_frame* frames[] = {&frame0, &frame1};
  const parafield_input input = {sizeof input, frames, 2, .start = NULL};
  parafield_estimator* estimator;
  check(parafield_create(&settings, &estimator));
  check(parafield_solve(estimator, &input, &output));
  check(parafield_destroy(estimator));
}

int main(void) {
  for (int y = 0; y < H; ++y) /* a texture that moves by 3 px to the left */
    for (int x = 0; x < W; ++x) {
      first[y][x] = (unsigned char)(x / 4 * 37 + y / 4 * 91 + x / 4 * (y / 4) * 53);
      second[y][x] = (unsigned char)((x + 3) / 4 * 37 + y / 4 * 91 + (x + 3) / 4 * (y / 4) * 53);
    }
  const size_t size = sizeof(parafield_field);
  solve(PARAFIELD_FLOW, (parafield_field){.size = size, .width = W, .height = H, .u = {u, 0}, .v = {v, 0}});
  solve(PARAFIELD_STEREO, (parafield_field){.size = size, .width = W, .height = H, .d = {d, 0}});
  solve(PARAFIELD_DETECTION, (parafield_field){.size = size, .width = W, .height = H, .moving = {moving, 0}});
  printf("flow (%.1f, %.1f) px, disparity %.0f px, moving %d\n", u[H / 2][W / 2], v[H / 2][W / 2],
         d[H / 2][W / 2], moving[H / 2][W / 2]);
  return 0;
}
