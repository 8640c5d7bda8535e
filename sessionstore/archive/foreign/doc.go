// Package foreign brings the histories of Claude Code, Codex, the GitHub Copilot CLI, opencode and
// pi into a store.
//
// [Find] lists the histories on this machine, and [Import] makes sessions of one. A history
// is one session of one of them (the tool), as its files describe it. The new
// session holds the conversation, in the form of the Amplifier tools, and beside it
// everything that the tool wrote:
//
//	import/original.jsonl.zst   the bytes of the tool's files, compressed, one file behind the other
//	import/map.jsonl            the scope of the conversation; for each line of the file its message, or the reason why it has none; the usage of each response, but of Codex
//
// A message carries metadata.source, an object of texts: the tool, the id of the
// tool's session, and the lines that the message was made of.
//
// # Sessions of a history
//
// The conversation holds the messages that the tool would resume, and before them the
// messages that each compaction hid. Import reads a conversation of Claude Code backwards
// from the last record of the file: along parentUuid, and from a compaction along
// logicalParentUuid. It begins with an earlier record, as the tool does, where the last line
// of kind last-prompt names one that the last record does not follow from. It reads a
// conversation of Codex from line to line, and leaves out the turns that were rolled back.
// The summary of a compaction becomes part of the conversation only if the file lacks the
// messages that the compaction hid; [Hidden] counts the messages before the last one. The parts of one response, which the tools write as
// several lines, become one message; the results of its calls follow it. A call without a
// result gets one that says so, and results without an answer get an answer that says so.
// Prompts with no answer between them become one message, with what the tool wrote between them,
// as where a person interrupted. Texts that the tool itself wrote become a <system-reminder>. The answer "No response requested." of Claude Code is left out:
// the tool writes it where a prompt got none. So the session is healthy by slice.Diagnose and
// accepted by accept.Check.
//
// A line beside the conversation becomes a fork when it has an answer, and a prompt of a
// person that neither the conversation nor another fork has. Prompts that are in no session
// are named in the [Report]. Each sub-agent becomes a sub-session, with forks of the lines
// beside its own one; its lines may be in a file of their own or in the file of its session.
// A question that a person asked beside the conversation becomes a sub-session, too. A
// session that the tool forked has the session of its origin as its parent, and begins with
// the messages that both share; so does the copy in which a session went on in the
// background, where Find names both. The records that Claude Code copies into a fork name
// their session: the last such name is the origin, and without one the fork has no parent. A
// session has the name that the tool gave it. Without such a name, and when its first prompt
// begins with text that an editor or a command put there, the name is the first text that a
// person typed. A sub-session has the name of its task.
//
// A session of pi is a tree of entries in one file: the conversation goes back from the last
// entry. What pi sends in the user's name, such as a command given to the shell or the text of
// an extension, becomes a <system-reminder>.
//
// A session of the GitHub Copilot CLI is a file of events in their order. The lines of its
// sub-agents are among the others, and each sub-agent becomes a sub-session of the session that
// began it.
// A rewind there takes lines out of the file.
//
// A record of Claude Code may name a parent that is in no file. It follows the record
// before it then; the tool stops there.
//
// # Several files
//
// Find makes one history of the files of one session. Codex begins a new file where a
// thread is reverted or forked: Import reads the files in the order in which they continue
// each other, and the messages that a revert hides become a fork. A file that does not
// continue the file that it names is a history of its own, and the [Report] has the reason.
// A session may be in two folders of its tool: the longer file is the session, of Claude
// Code in the project of its folder, and the [Report] names the other.
//
// [Export] writes a session as a file of a tool: the tool's own bytes, and lines for the
// messages since then. The member amplifier of each such line names the session and the
// message that the line was made from. Messages that the provider of the tool would refuse
// become others, by the rules of package accept: the member amplifier_mended of their lines
// holds the last message that they were made from, the number of these lines, and a sum of what
// both say. By it they are known when they come home. Where the tool's own lines hold such a
// message, lines are made from there on, and these lines stay before them. Claude Code resumes no sub-agent: the file of such a
// session has no line of the tool, and is a session of its own.
//
// # Exported sessions that return
//
// When the tool continues an exported file, and the exported session is in the store, the
// import appends the new turns to that session. Its own messages stay to the byte, with
// everything that a file of the tool cannot hold, such as its model, and with its name, unless it has
// none or an import made it, and a person gave it one in the tool. The lines
// that the tool wrote are kept in a folder as import_claude, with the name of the tool, in the form of import, and
// the member of metadata with that name describes it. When the session has changed since
// the export, because it went on in the store or was rewound, it stays, and the tool's side
// becomes a fork. So do the turns that the tool wrote behind an earlier turn. The lines that
// the session was imported from stay in import where the export did not have them. A file with
// nothing but the export changes nothing; of one that has a name, too, which a person gave there, the
// lines are kept, and the next export leaves the name. Sessions that the tool forked from the exported
// one have it as their parent. When the session is not in the store, or only in the trash,
// the file makes a session of its own.
//
// # Later imports
//
// The id of a session is a UUID of version 5, made of the tool's name and the tool's id. No
// file of the session names the time or the place of the import, so two devices that import
// one file make the same session. The files have the time of the last line, by which lists
// show the session until it goes on in the store. Its directory has the time of the import,
// by which tools clean up. A second import brings a session up to date if it is unchanged
// since the last import. If the session in the store and the tool's went on apart, the
// session in the store stays, and the tool's becomes a fork, which later imports bring up
// to date; [Apart] names it. A session that was removed from the store comes back with the
// next import. An existing session stays in its project.
//
// A session stays as the rules of its import made it. Since version 3 of these rules the
// pictures in results of Claude Code and Codex are pictures; the member early of the metadata
// says how many of the first messages are by the rules before. A name that a person changes in
// the tool follows with the next import, also where the file of the session did not change.
//
// No import removes messages; a session of a part of a thread, which stood alone until a
// file between was there, goes to the trash once the session of the thread has all of it. It
// stays if it was changed here, or if a rule of package hybrid keeps it on this machine, but not
// the session of the thread: then that session gets none of its words. A
// file with no lines but those that the session keeps of it
// changes nothing, unless its tool brought it to a later version of its format: the session keeps that
// then. A file may go on without records that the session was made of, or have
// them on no line that becomes a session: then the two went on apart, too. Import compares
// records and not messages: records of Codex by their contents, those of
// the others by their ids and contents.
//
// # Memory and kills
//
// Import reads the file a line at a time, each time up to the size that it had at the
// beginning: to find the conversation, to make the messages, and to keep the original, which
// must have the bytes that the messages were made from. A file that did not change since the
// last import, by its size, its times and its inode, is not read: the bookkeeping of its
// project keeps the report. Without that, and on Windows, it is read once. For an existing session, Import compares the file with the lines that the
// session keeps of it, and makes the messages twice. Where a record names a parent that its
// file does not have, Import reads the other files of the folder once. Import unpacks a
// compressed file as it reads. It takes some MiB, some seven times the longest line or
// response, and at most 72 bytes for each line and for each item that a compaction kept, also
// to bring a session up to date. A new session appears whole or not at all. Each file of an
// existing session changes at one instant; when the process is killed between two of them,
// the next import of the same history completes the change.
//
// # Unknown formats
//
// The vendors do not document the files. The folder testdata names the source of each fact
// about them and its certainty. Nothing is refused because it is unknown. Lines that are
// damaged or of an unknown kind are kept in the original and named in the [Report]. So are
// lines of more than 64 MiB, which are not read. A file of a sub-agent that cannot be read
// leaves out no other file. Files of agents that repeat the conversation are left out.
//
// # Broken sessions
//
// [Rescue] reads the files of a tool that the tool cannot go on with. Bytes that are no line
// are left out, objects on one line are separated, and lines that lost the line before them
// follow the one that is there. What the provider would refuse, by the rules of package
// accept for [Target], becomes what it takes. All other lines stay as the tool wrote them, but
// for ids, in a new session: lines that [Export] makes would lack thinking and reasoning. It holds a file in memory, and some copies of it while it mends.
//
// # Proof by the tools
//
// The soak proves this package with the tools themselves, answered by a made-up model, in
// Codex 0.171.0 and Claude Code 2.1.332. Codex lists, reads and resumes what [Export] makes
// of sessions from elsewhere and of threads that went on here, its request to the model has
// each prompt and answer before, and the new turn comes home; Claude Code does the same.
// [Import] brings each prompt and answer of threads that Codex itself wrote, with forks, a
// revert, a compaction, a resume and a call, and of sessions that Claude Code itself wrote,
// with a fork, a compaction, a resume, a call and a sub-agent. Each of 60 broken sessions,
// which the tools wrote and the test cut, joined and changed, goes on once it is rescued; before,
// the tool could not open it, sent less than all of it, or was refused. pi 1.6.0 lists, reads and
// resumes exports, asked by a model that refuses what the provider refuses; Import brings what pi
// wrote, with a fork, a rewind, a compaction, parallel calls, pictures, a resume and a kill. The
// page README.md has the table of the tools, SOURCES.md explains how a further one is added.
package foreign
