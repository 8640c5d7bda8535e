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
//	write    store the new lines beside the former ones, then replace the head by
//	         compare-and-swap
//	enter    write the entry of the catalogue
//	sweep    remove the documents that the head does not lead to; see [gc.Sweep]
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
// Between two steps the head leads to a whole history. The sweep is bound to the version
// of the head by which it was decided.
//
// A call that was interrupted is called again: sessions of which all lines went through
// today's rules are left alone, but for their small files, which are looked at again.
package resync
