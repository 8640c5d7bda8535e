// Package remote reads what the cloud has of a session: its head, the entries for
// which the head has no room, the segments of its streams, and their lines, each
// with a hash that was checked. It changes nothing there.
package remote
