// Package disk is a disk that records the operations on it: a file in a FUSE file system.
package disk
