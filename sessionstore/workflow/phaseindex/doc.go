// Package phaseindex reads the phase outputs of one session without their prompts,
// for programs that show how a workflow stands and follow it: a panel, a monitor.
// [workflow.Log.PhaseOutputs] reads the whole log and keeps all of it in memory;
// an [Index] reads what was appended since it read last. Prompts, and outputs
// beyond [MaxOutput], stay on the disk until [Index.Record] is asked for one, so
// that an Index needs the memory of the longest line and of the short records.
//
// What it tells is what package workflow tells of the same log. It takes no locks
// and writes nothing.
package phaseindex
