// Package browsertest drives the viewer with a browser, Debian's chromium. It
// is a module of its own, so that nobody else depends on what that needs.
//
// The tests need chromium in the path. With the flag -shots DIR they leave
// pictures of what they see there; with -large they measure the viewer on large
// data, which takes some gigabytes of disk.
package browsertest
