package picker

import (
	"context"
	"errors"
	"os"
	"os/signal"
	"reflect"
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
	"github.com/amplifier-go/sessionstorage/sessionstore/trash"
)

// Settings are the settings of [Run].
type Settings struct {
	Options
	Projects *projects.Projects
	HostEnv  []string
	In, Out  *os.File // terminals

	// Show shows a session on the terminals. It reports whether the user has seen it and left
	// a pager: then the list comes at once, else after a key.
	Show func(ctx context.Context, s Session, in, out *os.File) bool

	// Onward goes on with a session in another tool on the terminals. It reports whether the
	// tool ran and ended well.
	Onward func(ctx context.Context, s Session, tool string, in, out *os.File) bool

	// Import imports histories of other tools, and returns a line about the outcome. It
	// calls done with each history and its error, and ends when done returns false.
	// nil: none are offered.
	Import func(ctx context.Context, all []foreign.History, done func(foreign.History, error) bool) (string, error)

	// Changed is called with the message about the outcome of an action, as [Forked], and may be
	// called by several goroutines.
	Changed func(any)

	// Unsynced returns [trash.Options.Unsynced] for a store. nil: nothing is synced.
	Unsynced func(st *sessionstore.Store) func(ctx context.Context, ids []string) (map[string]string, error)
}

// ErrInterrupted is returned by [Run] when the user left by Ctrl-C.
var ErrInterrupted = errors.New("interrupted")

// Run shows the picker until the user leaves it, ctx ends, a signal comes, or the parent
// of this process is gone. The terminal is then as it was before. The error is nil when
// the user left.
func Run(ctx context.Context, o Settings) error {
	before, err := term.GetState(int(o.In.Fd()))
	if err != nil {
		return err
	}
	reset := func() { _ = term.Restore(int(o.In.Fd()), before) } // a terminal that is gone needs none

	o.Home, _ = os.UserHomeDir() // without one, no path is shortened
	o.Offers = o.Import != nil
	p := &program{Settings: o, store: store{o.Projects, o.Project, o.Unsynced}, reset: reset}
	model := New(o.Options, p)
	defer p.leaveRaw()
	ctx, stop := p.until(ctx)
	defer stop()
	p.ctx = ctx

	profile := colorprofile.ASCII
	if o.Color {
		profile = colorprofile.ANSI
	}
	p.tea = tea.NewProgram(model, tea.WithContext(ctx), tea.WithInput(o.In), tea.WithOutput(o.Out), tea.WithoutSignalHandler(), tea.WithColorProfile(profile))
	_, err = p.tea.Run()
	if cause := context.Cause(ctx); cause != nil {
		err = cause
	}
	stop()
	p.work.Wait()
	if err == nil && model.interrupted {
		return ErrInterrupted
	}
	return err
}

// program does what its model asks for, and has the terminal.
type program struct {
	Settings
	store store
	reset func()      // brings the terminal to the state it had before the picker
	raw   *term.State // of the terminal while the picker has it; nil: not known

	ctx    context.Context
	tea    *tea.Program
	work   sync.WaitGroup
	hosted atomic.Bool  // a host or a pager has the terminal
	shown  atomic.Value // the Key of the preview that was read last

	listing   context.CancelFunc // ends the reading under way
	searching context.CancelFunc // ends the search under way
	importing context.CancelFunc // stops the import under way
	histories histories
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
		p.reset()
	}
}

// watch is the first thing that is asked for when the picker has the terminal.
func (p *program) watch() tea.Cmd {
	p.raw, _ = term.GetState(int(p.In.Fd())) // without it, the terminal is left to others
	p.work.Go(func() {
		p.store.watch(p.ctx, noticeEvery, p.previewed, func() { p.tea.Send(Noticed{}) })
	})
	return nil
}

// previewed returns the session whose preview was read last.
func (p *program) previewed() Key {
	k, _ := p.shown.Load().(Key)
	return k
}

// begin runs do in a goroutine that Run waits for. The command returns the message of do.
func (p *program) begin(do func() tea.Msg) tea.Cmd {
	done := make(chan tea.Msg, 1)
	p.work.Go(func() {
		msg := do()
		p.Changed(msg)
		done <- msg
	})
	return func() tea.Msg { return <-done }
}

// stream runs do, which sends messages, in a goroutine that Run waits for, and ends the former one.
func (p *program) stream(end *context.CancelFunc, do func(context.Context)) tea.Cmd {
	if *end != nil {
		(*end)()
	}
	ctx, cancel := context.WithCancel(p.ctx)
	*end = cancel
	p.work.Go(func() {
		defer cancel()
		do(ctx)
	})
	return nil
}

// lend gives the terminal to a program, and has the session listed anew when that ends.
func (p *program) lend(k Key, to tea.ExecCommand) tea.Cmd {
	p.hosted.Store(true)
	return tea.Exec(to, func(err error) tea.Msg {
		p.hosted.Store(false)
		return Returned{k, err}
	})
}

func (p *program) list(gen int, project string, subs bool) tea.Cmd {
	return p.stream(&p.listing, func(ctx context.Context) { p.store.list(ctx, gen, project, subs, p.tea.Send) })
}

func (p *program) search(gen int, text, project string) tea.Cmd {
	return p.stream(&p.searching, func(ctx context.Context) {
		if text != "" {
			p.store.search(ctx, gen, text, project, p.tea.Send)
		}
	})
}

func (p *program) preview(k Key) tea.Cmd {
	return p.begin(func() tea.Msg {
		p.shown.Store(k)
		return p.store.preview(p.ctx, k)
	})
}

func (p *program) turns(k Key) tea.Cmd {
	return p.begin(func() tea.Msg { return p.store.turns(p.ctx, k) })
}

func (p *program) fork(k Key, turn int) tea.Cmd {
	return p.begin(func() tea.Msg { return p.store.fork(p.ctx, k, turn) })
}

func (p *program) export(k Key, file string) tea.Cmd {
	return p.begin(func() tea.Msg { return p.store.export(p.ctx, k, file) })
}

// rename, remove and restore are done in a moment, and not by halves.
func (p *program) rename(k Key, name string) tea.Cmd {
	return p.begin(func() tea.Msg { return p.store.rename(context.WithoutCancel(p.ctx), k, name) })
}

func (p *program) remove(s Session, allow []trash.Kind) tea.Cmd {
	return p.begin(func() tea.Msg { return p.store.remove(context.WithoutCancel(p.ctx), s, allow) })
}

func (p *program) restore(k Key, r trash.Receipt) tea.Cmd {
	return p.begin(func() tea.Msg { return p.store.restore(context.WithoutCancel(p.ctx), k, r) })
}

func (p *program) plan(s Session) tea.Cmd {
	return p.begin(func() tea.Msg { return p.store.plan(p.ctx, s) })
}

func (p *program) check(s Session) tea.Cmd {
	return p.begin(func() tea.Msg { return p.store.check(p.ctx, p.Host, s) })
}

func (p *program) makeDir(s Session) tea.Cmd {
	return p.begin(func() tea.Msg { return p.store.makeDir(p.ctx, p.Host, s) })
}

func (p *program) resume(s Session) tea.Cmd {
	return p.lend(s.Key, &hostRun{ctx: p.ctx, host: p.Host, session: s, env: p.HostEnv, restore: p.reset})
}

func (p *program) onward(s Session, tool string) tea.Cmd {
	return p.lend(s.Key, &ownRun{p, func(ctx context.Context, in, out *os.File) bool { return p.Onward(ctx, s, tool, in, out) }})
}

func (p *program) show(s Session) tea.Cmd {
	return p.lend(s.Key, &ownRun{p, func(ctx context.Context, in, out *os.File) bool { return p.Show(ctx, s, in, out) }})
}

func (p *program) seek() tea.Cmd {
	return p.begin(func() tea.Msg { return p.histories.seek(p.ctx, p.store) })
}

func (p *program) bring() tea.Cmd {
	return p.stream(&p.importing, func(stop context.Context) { p.histories.bring(p.ctx, stop, p.Import, p.tea.Send) })
}

func (p *program) stopImport() { p.importing() }
