/* SPDX-License-Identifier: MIT */
/* scripts/wheel includes this first in every file. Newer versions of these functions are in glibc 2.35 and in the
   libstdc++ of GCC 12; with the older ones, the wheel also runs on systems with glibc 2.34, such as RHEL 9.
   Newer systems have both. */
#if defined(__x86_64__)
#define PARAFIELD_OLDEST "GLIBC_2.2.5"
#elif defined(__aarch64__)
#define PARAFIELD_OLDEST "GLIBC_2.17"
#endif
#ifdef PARAFIELD_OLDEST
__asm__(".symver hypot, hypot@" PARAFIELD_OLDEST);
__asm__(".symver hypotf, hypotf@" PARAFIELD_OLDEST);
__asm__(
    ".symver _ZNSt18condition_variable4waitERSt11unique_lockISt5mutexE,"
    "_ZNSt18condition_variable4waitERSt11unique_lockISt5mutexE@GLIBCXX_3.4.11");
#endif
