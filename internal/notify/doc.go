// Package notify tells what changes on disk.
//
// A [Watcher] hears of changes from the system, in the directories that it was
// given. Only Linux has one: kqueue, of macOS, needs a descriptor for every
// file, and on Windows a watched directory is held open, which can make a
// rename in it fail. What a Watcher tells is a hint.
package notify

// Event says that something happened at Path, a watched directory or a name
// in one. An empty Path says that events were lost.
type Event struct {
	Path string
}
