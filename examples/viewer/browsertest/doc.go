// Package browsertest drives the viewer with a browser, Debian's chromium. It is a
// module of its own, so that no other module depends on its requirements.
//
// The tests need chromium in the path. With the flag -shots DIR they save pictures of
// the pages there; with -large they measure the viewer on large data, which takes some
// gigabytes of disk.
package browsertest
