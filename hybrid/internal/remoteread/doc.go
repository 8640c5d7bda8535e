// Package remoteread reads the copy of a session in the cloud: its head, the former heads
// and branches that the head names, the segments of its streams, and their lines, each
// with a hash that was checked. It also makes the requests that change documents there,
// as one piece of work.
package remoteread
