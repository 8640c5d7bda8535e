// Package syncplan decides what is to be done about a session when its local
// transcript, the one in the cloud, and the one that both had when they were
// last in step are known: as a pure function, so that every decision of the
// sync can be tried without a network.
//
// A history that another one continues is never a conflict. Two histories that
// went on differently are one, and then both are kept. A rewind that the cloud
// has accepted is followed by every device that added nothing. No decision
// uses a clock.
package syncplan
