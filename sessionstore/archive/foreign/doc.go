// Package foreign brings the histories of Claude Code and Codex into a store.
//
// [Find] lists the histories on this machine, and [Import] makes sessions of one. A
// history is one session of Claude Code or Codex (the tool), as its files tell it. The
// new session holds the conversation, in the form of the Amplifier tools, and beside it
// all that the tool wrote:
//
//	import/original.jsonl.zst   the bytes of the tool's file, compressed
//	import/map.jsonl            which conversation it is, and for each line of the file the message that it became, or why it is none
//
// A message carries metadata.source, an object of texts: the tool, the id of the
// tool's session, and the lines that the message was made of.
//
// # What becomes a session
//
// The conversation is what the tool would resume, and before it what each compaction
// hid. Import reads a conversation of Claude Code backwards from the leaf of the newest
// time: along parentUuid, and from a compaction along logicalParentUuid. It reads a
// conversation of Codex from line to line, and leaves out the turns that were rolled
// back. The summary of a compaction becomes part of the conversation only if the file
// does not have what the compaction hid. With Options.ActiveOnly, what stands before
// the last compaction is left out of a new session, and the summary begins the
// conversation, as when the tool resumes. A session stays what its first import made
// it. The parts of one response, which the tools write as several lines, become one
// message; the results of its calls follow it. A call without a result gets one that
// says so, and results without an answer get an answer that says so. Prompts with no
// answer between them become one message. What the tool itself wrote becomes a
// <system-reminder>. So what comes out is healthy by slice.Diagnose and accepted by
// slice.Accepts.
//
// A line beside the conversation becomes a fork when it has a prompt of a
// person that neither the conversation nor another fork has. With
// Options.ActiveOnly, what stands before a compaction is such a line. Prompts
// that are in no session are named in the [Report]. Each sub-agent becomes a
// sub-session. A session that the tool forked has the session of its origin as
// its parent, and begins with what was copied from there.
//
// [Export] writes a session as a file of a tool: the tool's own bytes, and lines for
// what was said since.
//
// # Again and elsewhere
//
// The id of a session is a UUID of version 5, made of the tool's name and the
// tool's id. Nothing in the files tells time or place of the import. So two
// devices that import one file make one session. A second import brings a
// session up to date if it is as the last import left it. If the session here
// and the tool's both went on, the session here stays, and the tool's becomes a
// fork, which later imports bring up to date. A session that was removed here
// comes back with the next import.
//
// # Memory and kills
//
// Import reads the file a line at a time, and each time up to the size that it had at
// the beginning: once to find the conversation, and once to keep the original, in which
// it then reads what the messages are made of. For a session that is there the file is
// read once: what is kept of it and did not change is read there, up to the last whole
// MiB, and stays. What stands behind that is read three times more. Where nothing can be
// kept, because the file begins otherwise than before or the original is gone, the whole
// file is read four times. An unchanged file is read once, which the report needs. A dry
// run of a new session reads the file twice. Import unpacks a compressed file as it
// reads. It takes some MiB, some three times the longest line or response, and at most
// 64 bytes for each line and for each item that a compaction kept, also to bring a
// session up to date. A new session appears whole or not at all. Each file of an
// existing one changes at one instant; when the process is killed between two of them,
// the next import of the same history completes the change.
//
// # What is not known
//
// The vendors do not document the files. The folder testdata tells where each fact
// comes from and how well it is known. Nothing is refused because it is unknown. Lines
// that are damaged or of an unknown kind are kept in the original and told in the
// [Report]. So are lines of more than 64 MiB, which are not read. A file of a sub-agent
// that cannot be read keeps no other one out. Files of agents that repeat the
// conversation are left out.
//
// The tools themselves have not checked anything that this package makes.
package foreign
