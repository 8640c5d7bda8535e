// Package cost computes the cost of a stored session so far, in US dollars, from the logs of
// the Amplifier tools, so that a program that resumes it goes on counting from there. It
// gives the answers of the newest of these tools, to the last digit: sums have 28 significant digits and are rounded half
// to even.
//
// [SoFar] reads the costs of responses from one log of events, and nothing else: a session
// that is no fork from its capture in context-intelligence, or from its events.jsonl where
// it has none; a fork from its capture alone, on top of the costs that its metadata say it
// inherits. No file of a parent is opened.
//
// A fork's total may be too low, since its parent's costs, or rows of its own log, are not
// known. [Restored.Problems] has the reasons. It is empty if the total is exact.
//
// The environment variable AMPLIFIER_CONTEXT_INTELLIGENCE_BASE_PATH names the
// directory of all captures, if they do not lie in the sessions.
//
// No function changes a file. Memory holds one row of the log at a time, and some
// 100 bytes for each response.
package cost
