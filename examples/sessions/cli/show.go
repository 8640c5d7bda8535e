package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"

	"golang.org/x/term"

	"github.com/amplifier-go/sessionstorage/examples/sessions/internal/picker"
	"github.com/amplifier-go/sessionstorage/examples/sessions/internal/screen"
	"github.com/amplifier-go/sessionstorage/examples/viewer/host"
	"github.com/amplifier-go/sessionstorage/sessionstore"
	"github.com/amplifier-go/sessionstorage/sessionstore/archive/foreign"
	"github.com/amplifier-go/sessionstorage/sessionstore/projects"
	"github.com/amplifier-go/sessionstorage/sessionstore/turn"
	"github.com/amplifier-go/sessionstorage/slice/conversation"
)

type showCommand struct {
	here
	views
	WithTranscript bool `short:"T" xor:"part" help:"Show the transcript too."`
	Turn           *int `placeholder:"N" xor:"part" help:"Show this turn alone, counted from 1."`
	Last           *int `placeholder:"N" xor:"part" help:"Show the last so many turns alone."`
	Hidden         bool `xor:"part" help:"List instead what stood before the last compaction of the tool from which the session came: prompts, answers, commands, files."`
	Tools          bool `help:"Show the arguments and results of tools whole, and not in a line each." group:"Output"`
}

// Help is shown below the usage.
func (showCommand) Help() string {
	return `Shows the metadata of a session of this project. With -T the conversation follows; with -T and --json it is the member transcript. A call of a tool and its result are a line each, the result with its size; --tools shows all of them. --turn and --last show turns and nothing else, and read no more than these of a large transcript. An image is a line with its size. The draft is what an interrupted answer had said, or what an agent writes at the moment: it is shown, and is not in the conversation.`
}

// Run shows.
func (c *showCommand) Run(a *app) error {
	t, err := c.find(a)
	if err != nil {
		return err
	}
	if c.Hidden {
		return hidden(a, t)
	}
	if c.Turn != nil || c.Last != nil {
		return c.turns(a, t)
	}
	return c.show(a, t)
}

// show shows what a session is, and with -T its conversation.
func (c *showCommand) show(a *app, t target) error {
	s, err := a.shown(t)
	if s == nil || err != nil && !errors.Is(err, sessionstore.ErrCorrupt) {
		return err
	}
	damage := err
	if s.Recovered != nil {
		a.Notef("%s a backup was read, because a file is damaged: %s", a.PaintError(screen.Yellow, "note:"), screen.Plain(s.Recovered.Reason.Error()))
	}
	draft, err := turn.ReadDraft(a.ctx, t.store, t.id)
	if err != nil && damage == nil {
		a.Notef("%s %s", a.PaintError(screen.Yellow, "note:"), screen.Plain(err.Error()))
	}
	if a.json {
		return errors.Join(c.json(a, t, s, draft), damage)
	}
	a.page()
	c.fields(a, s)
	if !c.WithTranscript {
		a.fields([][2]string{{"Draft", screen.Fit(line(cmp.Or(draft.Text, draft.Thinking)), 200)}})
		return damage
	}
	err = join(a.talk(s.rows, formOfTools(c.Tools)), damage)
	if draft.Prompt == 0 {
		return err
	}
	said, failed := sessionstore.Text("assistant", draft.Text, a.now())
	a.Print("\n" + a.Paint(screen.Yellow, "Not stored: what an interrupted answer had said, or what is written now.") + "\n")
	return join(err, join(failed, a.conversation([]sessionstore.Message{said}, formOfTools(c.Tools))))
}

// json answers with the session as lists have it, and metadata and messages as they are stored.
func (c *showCommand) json(a *app, t target, s *shown, draft turn.Draft) error {
	summary, err := a.summaryIn(t.dir())
	if err != nil {
		return err
	}
	item := object{{"session_id", t.id}, {"session", a.sessionOf(projects.Summary{Project: projectOf(t), Summary: summary}, t.dir())}, {"metadata", s.Metadata.AppendTo(nil)}}
	if draft.Prompt > 0 {
		item = append(item, member{"draft", object{{"prompt", draft.Prompt}, {"text", draft.Text}, {"thinking", draft.Thinking}}})
	}
	if c.WithTranscript {
		return a.writeRows(append(item, member{"transcript", list{}}), s.rows)
	}
	return a.writeJSON(item)
}

// turns shows one turn, or the last ones.
func (c *showCommand) turns(a *app, t target) error {
	if n := cmp.Or(c.Turn, c.Last); *n < 1 {
		return usageError{"--turn and --last: must be positive"}
	}
	rows, damage, err := c.asked(a, t)
	if err != nil {
		return err
	}
	if a.json {
		return errors.Join(a.writeRows(object{{"session_id", t.id}, {"transcript", list{}}}, rows), damage)
	}
	a.page()
	return join(a.talk(rows, formOfTools(c.Tools)), damage)
}

// asked returns the messages of the turns that are asked for. No view is open when it returns,
// and none while a message is yielded.
func (c *showCommand) asked(a *app, t target) (rows iter.Seq2[sessionstore.Message, error], damage, err error) {
	v, damage := t.store.View(a.ctx, t.id)
	if v == nil {
		return nil, nil, damage
	}
	defer func() { err = join(err, v.Close()) }()
	turns, first, last := v.Turns(), 1, v.Len()
	switch {
	case c.Turn != nil && *c.Turn > turns:
		return nil, nil, fmt.Errorf("no turn %d: the session has %s", *c.Turn, count(turns, "turn"))
	case turns == 0:
		return inMemory(nil), damage, nil
	case c.Turn != nil && *c.Turn < turns:
		if last, err = v.Start(a.ctx, *c.Turn+1); err != nil {
			return nil, nil, err
		}
		last--
	}
	turn := max(1, turns-*cmp.Or(c.Last, &turns)+1)
	if c.Turn != nil {
		turn = *c.Turn
	}
	if first, err = v.Start(a.ctx, turn); err != nil || damage == nil {
		return a.parts(t, first, last), nil, err
	}
	all, err := v.Range(a.ctx, first, last-first+1) // of a backup, which is in memory
	return inMemory(all), damage, err
}

// hidden lists what stood before the last compaction.
func hidden(a *app, t target) error {
	n, err := foreign.Hidden(a.ctx, t.store, t.id)
	if err != nil {
		return err
	}
	all, rows := []conversation.Note{}, [][]string{}
	for note, err := range conversation.Hidden(t.store.Messages(a.ctx, t.id), n) {
		if err != nil {
			return err
		}
		all = append(all, note)
		rows = append(rows, []string{strconv.Itoa(note.Turn), note.Kind, line(note.Text)})
	}
	a.page()
	return a.list(object{{"session_id", t.id}, {"messages", n}, {"hidden", all}}, "No compaction hid messages of this session.", []screen.Column{
		{Title: "Turn", Right: true, Tint: screen.In(screen.Yellow)},
		{Title: "What", Tint: screen.In(screen.Green)},
		{Title: "Text", Min: 20},
	}, rows)
}

func (c *showCommand) fields(a *app, s *shown) {
	md := s.Metadata
	rows := [][2]string{
		{"Session", s.ID},
		{"Name", md.Text("name")},
		{"Created", a.moment(md.Text("created"))},
		{"Bundle", md.Text("bundle")},
		{"Model", md.Text("model")},
		{"Messages", number(s.count)},
		{"Parent", md.Text("parent_id")},
	}
	if c.Compact {
		rows = [][2]string{{"Session", s.ID}, {"Name", md.Text("name")}}
	}
	if c.Detailed {
		rows = nil
		for name := range md.Keys() {
			raw, _ := md.Lookup(name)
			rows = append(rows, [2]string{screen.Plain(name), screen.Fit(screen.Plain(cmp.Or(md.Text(name), string(raw))), 200)})
		}
	}
	a.fields(rows)
}

type pickCommand struct {
	everywhere
	Host string `placeholder:"PROGRAM" help:"Program that resumes sessions, as in \"PROGRAM session resume ID\" (default: $AMPLIFIER_HOST, else amplifier)."`
}

// Help is shown below the usage.
func (pickCommand) Help() string {
	return `Opens a list of the sessions of the working directory's project on the terminal, with --all-projects or where it has none the sessions of all projects: letters filter it, Enter resumes a session in its directory, or where the user says so in the tool from which it came, as "sessions resume --with" does, Tab shows it in the pager, Ctrl-K shows the other commands. Where ` + toolTitles("or") + ` have conversations that are not here, it says so, and Ctrl-K i imports them. Only the beginnings of their files are read for that, so a file in which the import finds no conversation is offered again the next time. With --json, and where standard input or output is no terminal, it is "sessions list"; there, "sessions" alone is wrong arguments.`
}

// Run opens the picker, or lists.
func (c *pickCommand) Run(a *app) error {
	in, out := terminalFile(a.stdin), terminalFile(a.stdout)
	if in == nil || out == nil || a.json || a.env("TERM") == "dumb" {
		return (&listCommand{local: local(c.where), Limit: 20, AllProjects: c.AllProjects}).Run(a)
	}
	p, err := a.known(c.where)
	if err != nil {
		return err
	}
	slug, err := c.shown(a, p)
	if err != nil {
		return err
	}
	bring := func(ctx context.Context, all []foreign.History, done func(foreign.History, error) bool) (string, error) {
		return a.importShortly(ctx, p, all, done)
	}
	synced := ""
	if slug != "" {
		synced = a.lastSynced(false, filepath.Join(p.Dir(), slug, "sessions"))
	}
	show := func(ctx context.Context, s picker.Session, in, out *os.File) bool {
		return a.showPicked(ctx, p, s, in, out)
	}
	onward := func(ctx context.Context, s picker.Session, tool string, in, out *os.File) bool {
		return a.onwardPicked(ctx, p, s, tool, in, out)
	}
	ctx := a.ctx
	defer func() { a.ctx = ctx }()
	a.ctx = context.WithoutCancel(ctx) // an interrupt may be for the host or the pager
	err = picker.Run(ctx, picker.Settings{
		Options:  picker.Options{Synced: synced, Project: slug, Host: host.Program(c.Host, a.env(host.Variable)), Color: a.Colour(), Plain: a.plain, Now: a.now},
		Projects: p, HostEnv: hostEnv(c.SessionsRoot, p), In: in, Out: out, Show: show, Onward: onward, Import: bring, Changed: func(outcome any) { a.picked(p, outcome) }, Unsynced: a.unsynced,
	})
	if errors.Is(err, picker.ErrInterrupted) {
		return exitCode(exitInterrupted)
	}
	return err
}

// onTerminal returns the command of a name on the terminals that the list lends.
func (a *app) onTerminal(ctx context.Context, name string, in, out *os.File) *app {
	env := func(name string) string {
		switch v := a.env(name); {
		case name != "LESS":
			return v
		case v == "":
			return "R"
		default:
			return v + " -+F" // not to end by itself where all fits: the list would hide it
		}
	}
	colour := "never"
	if a.Colour() {
		colour = "always"
	}
	return &app{
		ctx: ctx, stdin: in, stdout: out, env: env, now: a.now, parser: a.parser, name: name, plain: a.plain, paged: a.paged, alone: a.alone,
		Screen: screen.New(screen.Options{Ctx: ctx, In: in, Out: out, Err: out, Env: env, Colour: colour}),
	}
}

// onwardPicked goes on with a session that was chosen in the list in another tool. It reports
// whether the tool ran and ended well.
func (a *app) onwardPicked(ctx context.Context, p *projects.Projects, s picker.Session, tool string, in, out *os.File) bool {
	b := a.onTerminal(ctx, "resume", in, out)
	st, err := p.Store(s.Project)
	if err == nil {
		err = (&resumeCommand{With: tool, local: local{SessionsRoot: p.Dir()}}).with(b, target{st, s.ID})
	}
	err = join(err, b.close())
	b.tell(nil, err)
	return err == nil
}

// showPicked shows a session that was chosen in the list. It reports whether the user has left a pager.
func (a *app) showPicked(ctx context.Context, p *projects.Projects, s picker.Session, in, out *os.File) bool {
	b := a.onTerminal(ctx, "show", in, out)
	st, err := p.Store(s.Project)
	if err == nil {
		err = (&showCommand{WithTranscript: true}).show(b, target{st, s.ID})
	}
	err = join(err, b.close())
	b.tell(nil, err)
	return err == nil && b.Left()
}

// shown returns the project to show: the named one, or the project of the working
// directory if it has sessions. "" means all projects.
func (c *pickCommand) shown(a *app, p *projects.Projects) (string, error) {
	slug, err := c.existing(a, p, !c.AllProjects)
	if errors.Is(err, errNoDirectory) {
		return "", nil
	}
	if err != nil || c.AllProjects || c.Project != "" {
		return slug, err
	}
	if !isDir(filepath.Join(p.Dir(), slug, "sessions")) {
		return "", nil
	}
	st, err := p.Store(slug)
	if err != nil {
		return "", err
	}
	some, err := st.List(a.ctx, &sessionstore.ListOptions{NoInternal: true, Limit: 1})
	if err == nil && len(some) == 0 {
		return "", nil
	}
	return slug, nil // the list shows the error
}

// terminalFile returns the file that a stream is, or nil when it is no terminal.
func terminalFile(stream any) *os.File {
	f, ok := stream.(*os.File)
	defer runtime.KeepAlive(f)
	if !ok || !term.IsTerminal(int(f.Fd())) {
		return nil
	}
	return f
}

// line returns text in one line, with runs of space as one.
func line(text string) string {
	joined := strings.Join(strings.Fields(screen.Plain(text)), " ")
	if text != "" && strings.HasPrefix(screen.Plain(text), " ") {
		joined = " " + joined
	}
	if len(joined) > 1 && strings.HasSuffix(screen.Plain(text), " ") {
		joined += " "
	}
	return joined
}
