// Package scan looks through text in blocks, many bytes at once: for two bytes
// that stand at a distance, and for what is not UTF-8.
package scan
