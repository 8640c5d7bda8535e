// Package trash removes sessions so that they can be brought back, into a folder of this
// library's own format.
//
// A removal begins with a [Plan]. The plan lists the sessions that go, with their sizes,
// and the sessions that stay, with the reasons: a program runs the session, it was written
// a moment ago, the remote lacks a part of it, or a session that descends from it would lose
// its parent. [NewPlan] changes nothing. [Plan.Delete] moves the other sessions into the
// trash of their sessions directory:
//
//	sessions/.trash/<receipt>/receipt.json    the removed sessions, the time, the reason, the origin
//	sessions/.trash/<receipt>/sessions/<id>/  the sessions as they were
//
// No Amplifier tool lists the sessions in the trash. The trash is on the same file system
// as the sessions, so a session moves by one rename: it is in its place or in the trash,
// and whole, after a killed process and after a power cut too. The receipt is on the disk
// before the first session moves. It names the sessions that the removal was meant to take.
// [List] returns the sessions that are in the trash now.
//
// [Restore] takes back one removal, or a part of one. Sessions come back byte for byte and
// with their times. [Empty] removes them for good; until then the trash keeps them, however
// old they are.
//
// A [hybrid.Store] removes sessions through its local store. The copy of a session in the
// remote stays there.
//
// [hybrid.Store]: https://pkg.go.dev/github.com/amplifier-go/sessionstorage/hybrid#Store
package trash
