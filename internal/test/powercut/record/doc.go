// Package record holds the operations on a disk, and makes from them the disks that a power
// cut may leave. It reads and writes no file itself.
package record
