// Package trash removes sessions so that they can be brought back.
//
// A removal begins with a [Plan]: which sessions, how many bytes, why, and
// which of them stay, because somebody runs them, because the cloud lacks
// something of theirs, or because sessions that descend from them would stay
// alone. [Plan.Run] moves the others into the trash of their sessions
// directory:
//
//	sessions/.trash/<receipt>/receipt.json    what was taken, when, why, from where
//	sessions/.trash/<receipt>/sessions/<id>/  the sessions as they were
//
// No Amplifier tool lists what is there. It is on the same file system, so
// that a session moves by one change of its name: it is in its place or in the
// trash, whole, also after a killed process or a power cut. The receipt is on
// the disk before the first session moves. It tells what was meant to be taken;
// what is in the trash is what lies there.
//
// [Restore] moves sessions back, byte for byte and with their times, and
// [Empty] removes them for good.
package trash
