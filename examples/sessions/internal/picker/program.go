package picker

import (
	"context"
	"errors"
	"os"
	"os/signal"
	"reflect"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/amplifier-go/sessionstorage/sessionstore/projects"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/colorprofile"
	"golang.org/x/term"

	"github.com/amplifier-go/sessionstorage/sessionstore"
	"github.com/amplifier-go/sessionstorage/sessionstore/archive/foreign"
)

// Settings are the settings of [Run].
type Settings struct {
	Projects *projects.Projects
	Project  string // the one to show; "": all
	Host     string // program that resumes sessions, by name or path
	HostEnv  []string
	Synced   string // line about the last sync of the project; "": none
	Color    bool
	Plain    bool     // texts of models are not rendered
	In, Out  *os.File // terminals

	// Show shows a session on the terminals. It reports whether the user has seen it and left
	// a pager: then the list comes at once, else after a key.
	Show func(ctx context.Context, s Session, in, out *os.File) bool

	// Import imports histories of other tools, and returns a line about the outcome. It
	// calls done with each history and its error, and ends when done returns false.
	// nil: none are offered.
	Import func(ctx context.Context, all []foreign.History, done func(foreign.History, error) bool) (string, error)

	// Changed is called with the outcome of each command that has one, and may be called by
	// several goroutines.
	Changed func(Event)

	// Unsynced returns [trash.Options.Unsynced] for a store. nil: nothing is synced.
	Unsynced func(st *sessionstore.Store) func(ctx context.Context, ids []string) (map[string]string, error)
}

// Run shows the picker until the user leaves it, ctx ends, a signal comes, or the parent
// of this process is gone. The terminal is then as it was before. The error is nil when
// the user left.
func Run(ctx context.Context, o Settings) error {
	before, err := term.GetState(int(o.In.Fd()))
	if err != nil {
		return err
	}
	restore := func() { _ = term.Restore(int(o.In.Fd()), before) } // a terminal that is gone needs none

	home, _ := os.UserHomeDir() // without one, no path is shortened
	model, first := New(Options{Color: o.Color, Plain: o.Plain, Synced: clean(o.Synced), Now: time.Now, Home: home, Host: o.Host, Offers: o.Import != nil, Project: o.Project})
	p := &program{Settings: o, model: model, store: store{o.Projects, o.Project, o.Unsynced}, restore: restore, first: first}
	defer p.leaveRaw()
	ctx, stop := p.until(ctx)
	defer stop()
	p.ctx = ctx

	profile := colorprofile.ASCII
	if o.Color {
		profile = colorprofile.ANSI
	}
	p.tea = tea.NewProgram(p, tea.WithContext(ctx), tea.WithInput(o.In), tea.WithOutput(o.Out), tea.WithoutSignalHandler(), tea.WithColorProfile(profile))
	_, err = p.tea.Run()
	if cause := context.Cause(ctx); cause != nil {
		err = cause
	}
	stop()
	p.work.Wait()
	return err
}

// program joins a model to a terminal.
type program struct {
	Settings
	model   *Model
	store   store
	first   []Command
	restore func()
	raw     *term.State // of the terminal while the picker has it; nil: not known

	ctx    context.Context
	tea    *tea.Program
	work   sync.WaitGroup
	hosted atomic.Bool  // a host or a pager has the terminal
	shown  atomic.Value // the Key of the preview that was read last

	width, height int
	listing       context.CancelFunc // ends the reading under way
	searching     context.CancelFunc // ends the search under way
	importing     context.CancelFunc // stops the import under way
	histories     histories
}

// parentEvery is how often the picker looks whether its parent is alive.
const parentEvery = 300 * time.Millisecond

var errNoParent = errors.New("the program that started the picker is gone")

// until returns a context that ends with ctx, by signals, and when the parent
// of this process is gone: a shell has the terminal then. While a host has the
// terminal, an interrupt is for the host and ends nothing here.
func (p *program) until(ctx context.Context) (context.Context, func()) {
	inner, cancel := context.WithCancelCause(context.WithoutCancel(ctx))
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	var wait sync.WaitGroup
	parent, tick := os.Getppid(), time.NewTicker(parentEvery)
	wait.Go(func() {
		defer tick.Stop()
		outer := ctx.Done()
		for {
			select {
			case <-inner.Done():
				return
			case <-outer:
				if outer = nil; !p.hosted.Load() {
					cancel(context.Cause(ctx))
				}
			case <-tick.C:
				if os.Getppid() != parent {
					cancel(errNoParent)
				}
			case s := <-signals:
				if s != os.Interrupt || !p.hosted.Load() {
					cancel(context.Canceled)
				}
			}
		}
	})
	return inner, func() {
		signal.Stop(signals)
		cancel(nil)
		wait.Wait()
	}
}

// leaveRaw restores the terminal if it is still in the mode of the picker: a shell that
// took it back when the parent of this process was killed may not have restored it.
func (p *program) leaveRaw() {
	if now, err := term.GetState(int(p.In.Fd())); err == nil && reflect.DeepEqual(now, p.raw) {
		allowBackground()
		p.restore()
	}
}

// Init begins.
func (p *program) Init() tea.Cmd {
	p.raw, _ = term.GetState(int(p.In.Fd())) // without it, the terminal is left to others
	p.work.Go(func() {
		p.store.watch(p.ctx, noticeEvery, p.previewed, func() { p.tell(Noticed{}) })
	})
	return p.do(p.first)
}

// Update passes an event to the model, and carries out the commands that it returns.
func (p *program) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	var e Event
	switch msg := msg.(type) {
	case tea.WindowSizeMsg:
		p.width, p.height = msg.Width, msg.Height
		e = Resized{msg.Width, msg.Height}
	case tea.KeyPressMsg:
		e = Pressed{msg.String(), msg.Text}
	case tea.PasteMsg:
		e = Pressed{Text: msg.Content}
	case happened:
		e = msg.Event
	default:
		return p, nil
	}
	if _, ok := e.(Returned); ok {
		p.hosted.Store(false)
	}
	return p, p.do(p.model.Update(e))
}

// previewed returns the session whose preview was read last.
func (p *program) previewed() Key {
	k, _ := p.shown.Load().(Key)
	return k
}

// happened is an event on its way to the model.
type happened struct{ Event }

// View draws.
func (p *program) View() tea.View {
	v := tea.NewView(strings.Join(p.model.View(p.width, p.height), "\n"))
	v.AltScreen = true
	return v
}

// do carries out commands: those for the terminal by messages to it, the rest in
// goroutines that Run waits for.
func (p *program) do(todo []Command) tea.Cmd {
	var cmds []tea.Cmd
	for _, c := range todo {
		switch c := c.(type) {
		case Quit:
			cmds = append(cmds, tea.Quit)
		case Suspend:
			cmds = append(cmds, tea.Suspend)
		case Copy:
			cmds = append(cmds, tea.SetClipboard(c.Text))
		case Resume:
			p.hosted.Store(true)
			run := &hostRun{ctx: p.ctx, host: p.Host, session: c.Session, env: p.HostEnv, restore: p.restore}
			cmds = append(cmds, tea.Exec(run, func(err error) tea.Msg { return happened{Returned{c.Session.Key, err}} }))
		case Show:
			p.hosted.Store(true)
			run := &showRun{p: p, session: c.Session}
			cmds = append(cmds, tea.Exec(run, func(error) tea.Msg { return happened{Returned{Key: c.Session.Key}} }))
		case List:
			p.stream(&p.listing, func(ctx context.Context) { p.store.list(ctx, c, p.tell) })
		case Search:
			p.stream(&p.searching, func(ctx context.Context) {
				if c.Text != "" {
					p.store.search(ctx, c, p.tell)
				}
			})
		case Import:
			p.stream(&p.importing, func(stop context.Context) { p.histories.bring(p.ctx, stop, p.Import, p.tell) })
		case StopImport:
			p.importing()
		default:
			p.work.Go(func() {
				e := p.once(c)
				p.Changed(e)
				p.tell(e)
			})
		}
	}
	return tea.Batch(cmds...)
}

// stream runs do, which sends many events, in a goroutine, and ends the former one.
func (p *program) stream(end *context.CancelFunc, do func(context.Context)) {
	if *end != nil {
		(*end)()
	}
	ctx, cancel := context.WithCancel(p.ctx)
	*end = cancel
	p.work.Go(func() {
		defer cancel()
		do(ctx)
	})
}

// tell sends an event to the model, unless the program has ended.
func (p *program) tell(e Event) { p.tea.Send(happened{e}) }

// once carries out a command that is answered by one event.
func (p *program) once(c Command) Event {
	switch c := c.(type) {
	case Preview:
		p.shown.Store(c.Key)
		return p.store.preview(p.ctx, c.Key)
	case Rename:
		return p.store.rename(context.WithoutCancel(p.ctx), c)
	case Turns:
		return p.store.turns(p.ctx, c.Key)
	case Fork:
		return p.store.fork(p.ctx, c)
	case Export:
		return p.store.export(p.ctx, c)
	case Plan:
		return p.store.plan(p.ctx, c)
	case Delete: // which is done in a moment, and not by halves
		return p.store.remove(context.WithoutCancel(p.ctx), c)
	case Restore:
		return p.store.restore(context.WithoutCancel(p.ctx), c)
	case Check:
		return p.store.check(p.ctx, p.Host, c)
	case Seek:
		return p.histories.seek(p.ctx, p.store)
	}
	return nil
}
