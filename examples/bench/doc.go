// Bench measures one operation of the library in each process.
//
//	bench OP ARGUMENTS
//
// It prints one JSON object a line, {"op", "n", "median_s", "rss_mib"}: the median of the
// repetitions in seconds, and the peak resident memory of the process in MiB (0 where the
// system does not report it). Data lies in the folder $BENCH_DATA: t<N>.jsonl, a transcript
// of N messages, base<N>, a directory of N sessions, and logs of events under any name.
// Scratch files go to $BENCH_WORK, and to a temporary directory without it; sync costs as
// much as the file system of that folder takes.
//
//	save N REPS durable|relaxed             Save with one more message, metadata as it was
//	savemeta N REPS durable|relaxed         the same with a new turn_count
//	append N REPS durable|relaxed           Append of one message
//	rewrite N REPS durable|relaxed          Save with another first message
//	load N REPS                             Load in a fresh Store
//	reload N REPS                           Load again in the same Store
//	decode N REPS                           Load, and all members of all messages
//	list N REPS, listmeta N REPS            List of N sessions; and Metadata of each; in the same Store
//	listmetafirst N REPS                    listmeta, each time in a fresh Store
//	summaries N REPS                        Summaries, each time in a fresh Store, with an index that fits
//	summariesfirst N REPS                   the same without an index
//	summariesone N REPS                     the same with an index that fits all sessions but one
//	summariesrows N REPS                    the first 50 rows without an index
//	find N REPS                             Find of a prefix that one of N sessions has
//	keyword N REPS                          Projects.Find of a word that is nowhere
//	summary FILE REPS                       Summary of a log
//	at FILE REPS N                          event N of a log
//	slice FILE REPS, slicenew FILE REPS     SliceTo that keeps all; with another session id
//	fork N REPS                             Fork at the last turn, without events
//	diagnose N REPS                         Load and Diagnose
//	info N REPS                             metadata, turns and diagnosis
//	deep DEPTH REPS                         NewMessage of objects nested so deep
//	limit-append N REPS durable|relaxed, limit-read FILE REPS, limit-scan FILE REPS,
//	limit-copy FILE REPS durable|relaxed, limit-list N REPS
//	                                        the least that the system takes for it: a write (and syncs), a read, a read
//	                                        and a search for line ends, a read and a write, names and stat
//
// The operations whose names begin with summaries keep an index in base<N> while they run.
//
// decode, listmeta and listmetafirst use as many goroutines as there are processors.
//
// With BENCH_CPU=1 the line has cpu_s, too: how long processors worked for the
// process, which other programs on the machine disturb little.
//
// compare.py beside this file runs these and the Python store in turn and
// prints the ratios. The benchmarks in the folder peers measure SQLite and bbolt beside the library.
package main
