package cli

import (
	"maps"
	"slices"
	"strings"

	"github.com/amplifier-go/sessionstorage/examples/sessions/internal/screen"
	"github.com/amplifier-go/sessionstorage/examples/viewer/host"
	"github.com/amplifier-go/sessionstorage/sessionstore/archive/foreign"
	"github.com/amplifier-go/sessionstorage/slice"
)

type resumeCommand struct {
	Session string `arg:"" optional:"" help:"Id of the session, the beginning of one, or the path of its directory; default: choose one."`
	local
	mending
	Last        bool   `help:"The session of this project that was saved last, of those that can be read."`
	With        string `enum:",${tools}" default:"" placeholder:"TOOL" help:"Go on in another tool: ${a_tool}."`
	Show        bool   `help:"Start nothing, and show the command that resumes, and whether models accept what it would send."`
	Host        string `placeholder:"PROGRAM" help:"Program that resumes sessions, as in \"PROGRAM session resume ID\" (default: $AMPLIFIER_HOST, else amplifier)."`
	ForceBundle string `short:"B" placeholder:"NAME" help:"Resume with this bundle instead of the one it began with."`
}

// Help is shown below the usage.
func (resumeCommand) Help() string {
	return `Goes on with a session in the directory in which it worked: on a terminal it runs "amplifier session resume", elsewhere it prints the command that does. Without a session, it is chosen from a list on the terminal.

    sessions resume 8f14           this one
    sessions resume --last         the one saved last in this project
    sessions resume --show 8f14    what would be resumed
    sessions resume 8f14 --with claude

--with writes the conversation where ` + toolTitles("or") + ` looks for it, names what has no place there, and starts that tool. What the provider would refuse is changed there, as "repair --for" does, and told: --for names another provider than that of the tool's maker, --as-it-is changes nothing. It first brings home what was said in any of these tools since, and then adds what is new here; it never writes over a file, and hands over no session that another program runs. Where the session and the tool went on, the tool gets a conversation of its own; where two tools did, it asks which goes out.

--json shows as --show does, and starts nothing; with --with it writes, unless --show is given, and names the command that goes on. The exit code is that of the program.`
}

// Run resumes, or shows.
func (c *resumeCommand) Run(a *app) error {
	if c.Session == "-" { // as it was called before --last
		c.Session, c.Last = "", true
	}
	show := c.Show || a.json
	if c.With != "" && (c.Host != "" || c.ForceBundle != "") {
		return usageError{"--with takes no --host and no --force-bundle"}
	}
	if c.With == "" && c.isSet() {
		return usageError{"--for and --as-it-is go with --with"}
	}
	switch {
	case c.Last && c.Session != "":
		return usageError{"--last and a session: choose one"}
	case c.Session == "" && !c.Last && (show || c.With != "" || !a.interactive()):
		return usageError{"name a session, or --last for the one saved last; without one, it is chosen on a terminal"}
	case c.Session == "" && !c.Last:
		return (&pickCommand{everywhere{where: where(c.local)}, c.Host}).Run(a)
	}
	t, err := c.chosen(a)
	if err != nil {
		return err
	}
	switch {
	case c.With != "":
		return c.with(a, t)
	case show:
		return c.show(a, t)
	}
	return c.resume(a, t)
}

// chosen finds the session, the one saved last with --last.
func (c *resumeCommand) chosen(a *app) (target, error) {
	if c.Last {
		return c.newest(a)
	}
	return here{c.Session, c.local}.find(a)
}

// resume runs the host with the session.
func (c *resumeCommand) resume(a *app, t target) error {
	md, err := t.store.Metadata(a.ctx, t.id)
	if err != nil {
		return err
	}
	if err := c.noteImported(a, t); err != nil {
		return err
	}
	p, err := a.known(where(c.local))
	if err != nil {
		return err
	}
	words := c.words(a, t.id)
	s, err := a.start(t, md.Text("working_dir"), words[0])
	if err != nil {
		return err
	}
	return s.run(a, hostEnv(c.SessionsRoot, p), words[1:]...)
}

// words are the command that resumes a session.
func (c *resumeCommand) words(a *app, id string) []string {
	var flags []string
	if c.ForceBundle != "" {
		flags = []string{"--force-bundle", c.ForceBundle}
	}
	return host.Resume(host.Program(c.Host, a.env(host.Variable)), id, flags...)
}

// noteImported notes that an imported session holds more than its tool would send, and the
// sessions of what tools have apart from it.
func (c *resumeCommand) noteImported(a *app, t target) error {
	apart := foreign.Apart(t.store, t.id)
	for _, tool := range slices.Sorted(maps.Keys(apart)) {
		a.Notef("%s %s went on apart from this session: \"sessions resume %s\" goes on from there", a.PaintError(screen.Yellow, "note:"), tool, apart[tool])
	}
	longer, err := foreign.Longer(t.store, t.id)
	if longer {
		a.Notef("%s the session holds more than the tool that it was imported from would send; with --with that tool goes on from its last summary; \"sessions show --hidden %s\" tells what stood before it", a.PaintError(screen.Yellow, "note:"), t.id)
	}
	return err
}

// show shows what would be sent, and by which command.
func (c *resumeCommand) show(a *app, t target) error {
	s, err := t.store.Load(a.ctx, t.id)
	if err != nil {
		return err
	}
	d, err := slice.Diagnose(s.Messages)
	if err != nil {
		return err
	}
	if err := c.noteImported(a, t); err != nil {
		return err
	}
	judged, words := judge(s.Messages), c.words(a, t.id)
	shown := object{{"session_id", t.id}, {"path", t.dir()}, {"messages", len(s.Messages)}, {"refused", judged.refusals()}, {"not_judged", judged.open}, {"command", words}}
	if a.json {
		return a.writeJSON(shown)
	}
	a.showDiagnosis(t, d)
	a.showRefused(t, judged)
	a.fields([][2]string{{"Not judged", strings.Join(judged.open, "; ")}, {"Messages", number(len(s.Messages))}, {"Resume with", host.Line("", words...)}})
	const last = 10
	if earlier := len(s.Messages) - last; earlier > 0 {
		a.Printf("\n%s\n", a.Paint(screen.Dim, "… "+count(earlier, "earlier message")+": sessions show -T "+screen.Plain(t.id)))
	}
	return a.conversation(s.Messages[max(0, len(s.Messages)-last):], noTools)
}

// newest finds the session saved last.
func (c *resumeCommand) newest(a *app) (target, error) {
	rows, err := (&listCommand{local: c.local, Limit: 1}).rows(a)
	if err != nil {
		return target{}, err
	}
	if len(rows) == 0 {
		return target{}, referenceError("No sessions found to resume.")
	}
	st, err := a.opened.Store(rows[0].Project)
	return target{st, rows[0].ID}, err
}
