/* SPDX-License-Identifier: MIT
 * In the place of libjbig in a wheel. Debian's libtiff is linked with libjbig, whose license (GPL) does not
 * go together with that of CUDA's runtime. With this library, libtiff reports an error for a TIFF that JBIG
 * compressed. */
#include <stddef.h>

const char* jbg_strerror(int code) {
  (void)code;
  return "this build has no JBIG";
}
int jbg_dec_in(void* state, unsigned char* data, size_t length, size_t* read) {
  (void)state, (void)data, (void)length, (void)read;
  return 1;
}
int jbg_newlen(unsigned char* data, size_t length) {
  (void)data, (void)length;
  return 1;
}
void jbg_dec_init(void* state) { (void)state; }
void jbg_dec_free(void* state) { (void)state; }
unsigned long jbg_dec_getsize(const void* state) { return (void)state, 0; }
unsigned char* jbg_dec_getimage(const void* state, int plane) { return (void)state, (void)plane, NULL; }
void jbg_enc_init(void* state) { (void)state; }
void jbg_enc_out(void* state) { (void)state; }
void jbg_enc_free(void* state) { (void)state; }
