// Package inspect looks with all readers at the file system that a power cut
// left.
package inspect
