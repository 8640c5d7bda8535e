// Package resync writes what the cloud has of sessions anew, under today's rules of
// redaction: each line and each small file in the form that today's rules give to the
// one that was sent. It reads the cloud alone, and changes nothing on any device.
//
// # What becomes of a line
//
// A line was sent in a form, and all hashes are of these forms. Its new form is what
// today's rules make of the former form, not of the line on the device that wrote it.
// So nothing that was taken out comes back, and each device with the same rules, which
// knows the former form, knows the new one without a request; see package syncer.
//
// # The steps
//
//	family   all sessions that share lines are named in the call; see package gc
//	write    for each session, parents before forks: store the new lines beside the
//	         former ones, then replace the head by compare-and-swap
//	enter    write the entries of the catalogue
//	check    read all heads again: the family is still whole, and all of it is new
//	sweep    remove the documents that no head leads to; see [gc.Sweep]
//
// What no rule changes has the same hash as before, and its documents stay. A stream is
// stored anew from the first segment on in which rules change a line.
//
// # Who may be where, and when
//
// A head counts how often lines or files of the session got other forms: its
// generation. A push by a former head fails its compare-and-swap; it reads the head
// again, meets another generation, and learns the new forms before it goes on. The head
// also tells where the transcript ended before and after, so that the last point is found
// again that both had; the rule stands in renew.go of package syncer. What such a push
// stored in vain it removes, as the sweep does. A pull that misses a document reads the
// head again and begins anew.
//
// Between two steps each head leads to a whole history. Until its sweep is done, a head
// says that it is open, and nobody else removes documents of the session. A fork whose head was not
// replaced yet leads to the former lines of its parent, which are there until the
// sweep. The sweep is bound to the versions of the heads by which it was decided.
//
// A call that was interrupted is called again: sessions of which all lines went through
// today's rules are left alone, but for their small files, which are looked at again.
package resync
