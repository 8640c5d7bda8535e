// Package disk is a disk that records what is done to it: a file in a FUSE file
// system.
package disk
