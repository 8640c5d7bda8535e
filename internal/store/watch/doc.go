// Package watch reports the changes in a sessions directory, of all programs. A watcher
// of package sessionstore is made of it.
//
// It compares states of files. A [poller] compares the present states with the last ones,
// every session once in a period, so that the work is spread evenly ([schedule]). The
// system's events make it look earlier, at the directories that the system watches
// ([dirWatches]), which are a limited number. A session whose changes all have events
// rests: it is polled only once in a minute. A [loop] runs both in one goroutine. The
// changes wait in a bounded set ([pending]) until the consumer of a [Watcher] takes them.
// A [Group] holds the watchers of a store.
//
// A program that reads a file after each report of it has the present content in the end,
// though a change may be reported twice, and a file that comes and goes between two looks
// is not reported: where the package cannot determine what changed, it reports a
// [Rescan].
//
// A [Notifier] receives changes from the system, in the directories that were added to
// it. Only Linux has one: kqueue, of macOS, needs a descriptor for every file, and on
// Windows a watched directory is held open, which can make a rename in it fail. An
// [Event] is a hint.
package watch
