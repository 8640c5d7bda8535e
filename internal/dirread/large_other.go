//go:build !linux

package dirread

// LargeFile is 0: other systems open files of any size.
const LargeFile = 0
