package picker

import (
	"fmt"
	"reflect"
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/amplifier-go/sessionstorage/sessionstore/trash"
)

// call is the name of an action and its arguments.
type call []any

// recorder notes the actions that a model asks for, and does none.
type recorder struct{ calls []call }

func (r *recorder) note(name string, args ...any) tea.Cmd {
	r.calls = append(r.calls, append(call{name}, args...))
	return nil
}

func (r *recorder) watch() tea.Cmd { return nil }
func (r *recorder) list(gen int, project string, subs bool) tea.Cmd {
	return r.note("list", gen, project, subs)
}

func (r *recorder) search(gen int, text, project string) tea.Cmd {
	return r.note("search", gen, text, project)
}
func (r *recorder) preview(k Key) tea.Cmd             { return r.note("preview", k) }
func (r *recorder) turns(k Key) tea.Cmd               { return r.note("turns", k) }
func (r *recorder) fork(k Key, turn int) tea.Cmd      { return r.note("fork", k, turn) }
func (r *recorder) export(k Key, file string) tea.Cmd { return r.note("export", k, file) }
func (r *recorder) rename(k Key, name string) tea.Cmd { return r.note("rename", k, name) }
func (r *recorder) plan(s Session) tea.Cmd            { return r.note("plan", s) }
func (r *recorder) remove(s Session, allow []trash.Kind) tea.Cmd {
	return r.note("remove", s, allow)
}
func (r *recorder) restore(k Key, of trash.Receipt) tea.Cmd { return r.note("restore", k, of) }
func (r *recorder) check(s Session) tea.Cmd                 { return r.note("check", s) }
func (r *recorder) makeDir(s Session) tea.Cmd               { return r.note("makeDir", s) }
func (r *recorder) resume(s Session) tea.Cmd                { return r.note("resume", s) }
func (r *recorder) onward(s Session, tool string) tea.Cmd   { return r.note("onward", s, tool) }
func (r *recorder) show(s Session) tea.Cmd                  { return r.note("show", s) }
func (r *recorder) seek() tea.Cmd                           { return r.note("seek") }
func (r *recorder) bring() tea.Cmd                          { return r.note("bring") }
func (r *recorder) stopImport()                             { r.note("stopImport") }

// newRecorded returns a model that was begun, and what it asked for.
func newRecorded(o Options) (*Model, []call) {
	r := &recorder{}
	m := New(o, r)
	return m, append(r.calls, asked(m.Init())...)
}

// did sends a message to a model, and returns what the model asks for then: of its actions,
// and of Bubble Tea.
func did(m *Model, msg tea.Msg) []call {
	r := m.do.(*recorder)
	r.calls = nil
	_, cmd := m.Update(msg)
	return append(r.calls, asked(cmd)...)
}

// asked returns what a command asks Bubble Tea for.
func asked(cmd tea.Cmd) (calls []call) {
	if cmd == nil {
		return nil
	}
	switch msg := cmd().(type) {
	case tea.BatchMsg:
		for _, cmd := range msg {
			calls = append(calls, asked(cmd)...)
		}
	case tea.QuitMsg:
		calls = []call{{"quit"}}
	case tea.SuspendMsg:
		calls = []call{{"suspend"}}
	default:
		if reflect.TypeOf(msg) == reflect.TypeOf(tea.SetClipboard("")()) {
			calls = []call{{"copy", fmt.Sprint(msg)}}
		}
	}
	return calls
}

// key returns the key of a name, as "ctrl+k", "pgup", or a character.
func key(name string) tea.KeyPressMsg {
	k := tea.KeyPressMsg{}
	for mod, bit := range map[string]tea.KeyMod{"ctrl+": tea.ModCtrl, "shift+": tea.ModShift} {
		if rest, ok := strings.CutPrefix(name, mod); ok {
			k.Mod, name = bit, rest
		}
	}
	codes := map[string]rune{"up": tea.KeyUp, "down": tea.KeyDown, "left": tea.KeyLeft, "right": tea.KeyRight, "pgup": tea.KeyPgUp, "pgdown": tea.KeyPgDown, "home": tea.KeyHome, "end": tea.KeyEnd, "enter": tea.KeyEnter, "tab": tea.KeyTab, "esc": tea.KeyEsc, "backspace": tea.KeyBackspace}
	code, named := codes[name]
	if k.Code = code; !named {
		k.Code = []rune(name)[0]
		if k.Mod == 0 {
			k.Text = name
		}
	}
	return k
}
