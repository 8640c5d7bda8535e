// Package syncplan decides how to sync a session, given its local transcript, the
// transcript in the cloud, and the transcript that both had when they were last in step: as a pure
// function, so that every decision of the sync can be tried without a network.
//
// A history that another one continues is never a conflict. Two histories that went on
// differently are, and then both are kept. A rewind that the cloud has accepted is
// followed by every device that added nothing. No decision uses a clock.
package syncplan
