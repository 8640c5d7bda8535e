// Package phaselog reads the phase outputs of a session without their prompts.
// Prompts of a megabyte each stay on the disk until one is asked for: an Index
// knows the lines that hold them. What it tells is what package workflow tells
// of the same log, which a test over random logs holds it to.
package phaselog
