// Package record holds what was done to a disk, and makes from it the disks
// that a power cut may leave. It reads and writes no file itself.
package record
