// Package foreign brings the histories of Claude Code and Codex into a store.
//
// [Find] lists the histories on this machine, and [Import] makes sessions of one. A
// history is one session of Claude Code or Codex (the tool), as its files say. The
// new session holds the conversation, in the form of the Amplifier tools, and beside it
// all that the tool wrote:
//
//	import/original.jsonl.zst   the bytes of the tool's file, compressed; those of its files, one behind the other
//	import/map.jsonl            which conversation it is; for each line of the file the message that it became, or why it is none; what each response of Claude Code used
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
// accept.Check.
//
// A line beside the conversation becomes a fork when it has an answer, and a prompt of
// a person that neither the conversation nor another fork has. With
// Options.ActiveOnly, what stands before a compaction is such a line. Prompts
// that are in no session are named in the [Report]. Each sub-agent becomes a
// sub-session, with forks of the lines beside its own one, whether it has a file or its
// lines stand in that of its session. So does a question that a person asked beside the
// conversation. A session that the tool forked has the session of its origin as its
// parent, and begins with what it shares with that; so does the copy in which a session
// went on in the background, where Find names both. A session has the name that the tool
// gave it. Where there is none and its first prompt begins with what an editor or a
// command put there, the name is what a person typed first. A sub-session has the name
// of its task.
//
// A record of Claude Code may name a parent that is in no file. It follows the record
// before it then, but not with Options.ActiveOnly: the tool stops there.
//
// # Several files
//
// Find makes one history of the files of one session. Codex begins a new file where a
// thread is reverted or forked: Import reads the files in the order in which they go on
// from each other, and what a revert hides becomes a fork. A file that does not go on
// from where it says is a history of its own, and the [Report] says why. A session of
// Claude Code may stand in two folders: the longer file is the session, in the project of
// its folder, where the other one has nothing else; else the one with the newest record
// is the session, and what only the other one has becomes a fork.
//
// [Export] writes a session as a file of a tool: the tool's own bytes, and lines for
// what was said since. Each such line names in its member amplifier which message of which
// session it was made of.
//
// # Home
//
// When the tool goes on with that file, and the session that it was made of is here, the
// import brings the new turns into that session: behind its messages, which stay to the byte,
// with all that a file of the tool cannot hold, as its name and its model do. What the tool
// wrote is kept in import_claude or import_codex, in the form of import, and the member of
// metadata with that name describes it. Where the session is not what was exported, as when it
// went on here or was rewound, it stays, and the tool's side becomes a fork. So does what the
// tool says behind an earlier turn. A file with nothing but the export changes nothing. What
// the tool forked of it has the session as its parent. Where the session is not here, or only
// in the trash, the file makes a session of its own.
//
// # Again and elsewhere
//
// The id of a session is a UUID of version 5, made of the tool's name and the
// tool's id. Nothing in the files says time or place of the import. So two
// devices that import one file make one session. The files have the time of the last
// line, by which lists show the session until it goes on here. Its directory has the time
// of the import, by which tools clean up. A second import brings a
// session up to date if it is as the last import left it. If the session here
// and the tool's both went on, the session here stays, and the tool's becomes a
// fork, which later imports bring up to date. A session that was removed here
// comes back with the next import. A session that is there stays in its project.
//
// No import takes anything away. A file that has nothing but what the session keeps of it
// changes nothing. Where the file went on, but no longer has records that the session was
// made of, or has them on no line that becomes a session, what the session held becomes a
// fork first, with what it kept of the file; [Report].Former names it. Records are compared
// and not messages: those of Claude Code by their uuids and what they say, those of Codex
// by what they say.
//
// # Memory and kills
//
// Import reads the file a line at a time, and each time up to the size that it had at
// the beginning: to find the conversation, to make the messages, and to keep the original,
// which must be what the messages were made of. An unchanged file is read once, which the
// report needs. What a session that is there keeps of a file is compared with the file, and
// the messages are made twice. Find reads the files that have one id. Where a record names a
// parent that its file does not have, Import reads the other files of the folder once.
// Import unpacks a compressed file as it
// reads. It takes some MiB, some three times the longest line or response, and at most
// 72 bytes for each line and for each item that a compaction kept, also to bring a
// session up to date. A new session appears whole or not at all. Each file of an
// existing one changes at one instant; when the process is killed between two of them,
// the next import of the same history completes the change.
//
// # What is not known
//
// The vendors do not document the files. The folder testdata says where each fact
// comes from and how well it is known. Nothing is refused because it is unknown. Lines
// that are damaged or of an unknown kind are kept in the original and named in the
// [Report]. So are lines of more than 64 MiB, which are not read. A file of a sub-agent
// that cannot be read keeps no other one out. Files of agents that repeat the
// conversation are left out.
//
// The tools themselves have not checked anything that this package makes.
package foreign
