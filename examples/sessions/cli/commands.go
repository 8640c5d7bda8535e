package cli

import "github.com/alecthomas/kong"

// commands are the arguments of the program. The text below each name is the
// first that a newcomer reads.
type commands struct {
	JSON    answerForm       `help:"Write JSON to standard output, errors too, but for those in the arguments. --json=v1 writes it with types, for programs, and all errors." group:"Output"`
	Plain   bool             `help:"Show text as it stands, and do not render Markdown." group:"Output"`
	NoPager bool             `help:"Do not show long answers through PAGER." group:"Output"`
	Version kong.VersionFlag `help:"Print the version." group:"Output"`
	Colour  string           `name:"color" enum:"auto,always,never" default:"auto" placeholder:"WHEN" help:"Use colour: auto, always or never. NO_COLOR turns it off too." group:"Output"`

	Pick   pickCommand   `cmd:"" default:"1" group:"Look" help:"Choose a session on the terminal and resume it; without a command, this one runs."`
	List   listCommand   `cmd:"" group:"Look" help:"List recent sessions of this project, or of all."`
	Show   showCommand   `cmd:"" group:"Look" help:"Show what a session is, and its transcript with -T."`
	Info   infoCommand   `cmd:"" group:"Look" help:"Show a session's metadata and whether it can be continued."`
	Find   findCommand   `cmd:"" group:"Look" help:"Find sessions by date, words or health, in all projects."`
	Tree   treeCommand   `cmd:"" group:"Look" help:"Show what a session was forked from and what was forked from it."`
	Resume resumeCommand `cmd:"" group:"Look" help:"Show what resuming a session would continue: its last messages, and whether models accept them."`

	Diagnose diagnoseCommand `cmd:"" group:"Mend" help:"Tell what keeps a session from being continued."`
	Repair   repairCommand   `cmd:"" group:"Mend" help:"Complete what is missing in a broken transcript. undo takes it back."`
	Rewind   rewindCommand   `cmd:"" group:"Mend" help:"Cut a transcript before what is broken, or after a turn. undo takes it back."`

	Fork    forkCommand    `cmd:"" group:"Copy and remove" help:"Make a new session of the first turns of another."`
	Delete  deleteCommand  `cmd:"" group:"Copy and remove" help:"Move a session to the trash."`
	Cleanup cleanupCommand `cmd:"" group:"Copy and remove" help:"Move old sessions to the trash."`

	shelf

	Help       helpCommand       `cmd:"" group:"Help" help:"Show what a command does, or write the manual page."`
	Completion completionCommand `cmd:"" group:"Help" help:"Print a script that completes what you type."`
	Complete   completeCommand   `cmd:"" hidden:"" passthrough:""`
}
