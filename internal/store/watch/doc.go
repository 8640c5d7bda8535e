// Package watch tells what changes in a sessions directory, whoever changes
// it. It is what a watcher of package sessionstore is made of.
//
// What counts are the states of the files. A [poller] compares them with what
// it saw before, every session once in a period, so that the work is spread
// evenly ([schedule]). The system's events make it look earlier, at the
// directories that the system watches ([dirWatches]), which are a limited number.
// A session whose changes all have events rests meanwhile: it is looked at once in
// a minute. A [loop] runs both in one goroutine. The changes wait in a bounded set
// ([pending]) until the consumer of a [Watcher] takes them. A [Group] holds the
// watchers of a store.
//
// Whoever reads a file when it is told has in the end what is there, though a change
// may be told twice, and what comes and goes between two looks is not told: where the package
// cannot say what changed, it tells a [Rescan].
//
// A [Notifier] hears of changes from the system, in the directories that it was
// given. Only Linux has one: kqueue, of macOS, needs a descriptor for every
// file, and on Windows a watched directory is held open, which can make a
// rename in it fail. An [Event] is a hint.
package watch
