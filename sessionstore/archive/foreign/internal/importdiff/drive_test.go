package importdiff

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/klauspost/compress/zstd"

	"github.com/amplifier-go/sessionstorage/sessionstore"
	"github.com/amplifier-go/sessionstorage/sessionstore/archive/foreign"
	"github.com/amplifier-go/sessionstorage/sessionstore/projects"
)

// drive imports the homes of n seeds of each tool, and writes a file of the outcome of each
// to a folder. counts is the program that counts what a home holds; "": nothing is counted.
func drive(first uint64, n int, out, counts string) error {
	work, err := os.MkdirTemp("", "importdiff-")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(work) }()
	for i := range n {
		for _, tool := range []foreign.Tool{foreign.Claude, foreign.Codex} {
			seed := first + uint64(i)
			d := &driver{tool: tool, seed: seed, dir: filepath.Join(work, fmt.Sprint(tool, i)), counts: counts, r: rand.New(rand.NewPCG(seed, 2))}
			d.run()
			if err := write(filepath.Join(out, fmt.Sprintf("%s-%d.txt", tool, seed)), []byte(d.outcome())); err != nil {
				return err
			}
			if err := os.RemoveAll(d.dir); err != nil {
				return err
			}
		}
	}
	return nil
}

// driver imports a home as it changes, and notes what each import does.
type driver struct {
	tool   foreign.Tool
	seed   uint64
	dir    string
	counts string
	r      *rand.Rand
	said   bytes.Buffer
	p      *projects.Projects
	home   home
}

// home is a folder of a tool, made up.
type home interface {
	change()                     // lets the tool work
	save(dir string) error       // writes the files
	adopt(name string, b []byte) // takes an exported file, and goes on with it
}

func (d *driver) store() string { return filepath.Join(d.dir, "store") }
func (d *driver) tools() string { return filepath.Join(d.dir, "home") }

func (d *driver) note(format string, args ...any) { fmt.Fprintf(&d.said, format+"\n", args...) }

// outcome returns the notes without the folders.
func (d *driver) outcome() string {
	return strings.NewReplacer(d.store(), "STORE", d.tools(), "HOME").Replace(d.said.String())
}

// now is the time of all imports.
func now() time.Time { return time.Date(2025, 5, 1, 0, 0, 0, 0, time.UTC) }

func (d *driver) run() {
	ctx := context.Background()
	var err error
	if d.p, err = projects.Open(d.store(), &sessionstore.Options{Durability: sessionstore.Relaxed, Now: now}); err != nil {
		d.note("open: %v", err)
		return
	}
	defer func() { _ = d.p.Close() }()
	d.home = newHome(d.tool, d.seed)
	steps := 1 + d.r.IntN(3)
	for i := range steps {
		for range 1 + d.r.IntN(4) {
			d.home.change()
		}
		if i > 0 {
			d.weAct(ctx)
		}
		d.step(ctx, fmt.Sprint(i))
	}
	d.step(ctx, "again")
	if err := d.settle(); err != nil {
		d.note("settle: %v", err)
	}
	for range 2 { // the second import reads no file, if the first one noted what it reports
		d.imports(ctx, "unchanged")
	}
	d.spent(ctx)
	for _, s := range d.sessions() {
		d.export(ctx, s)
	}
}

// step imports the home as it is.
func (d *driver) step(ctx context.Context, name string) {
	d.note("== import %s", name)
	if err := d.home.save(d.tools()); err != nil {
		d.note("save: %v", err)
	}
	d.imports(ctx, name)
}

// settle waits until the file system's clock went on: files that changed just now are read.
func (d *driver) settle() error {
	path, began := filepath.Join(d.dir, "clock"), time.Time{}
	for {
		if err := os.WriteFile(path, nil, 0o600); err != nil {
			return err
		}
		if err := os.WriteFile(path, []byte("a"), 0o600); err != nil {
			return err
		}
		fi, err := os.Stat(path)
		if err != nil {
			return err
		}
		if began.IsZero() {
			began = fi.ModTime()
		}
		if fi.ModTime().Sub(began) > 100*time.Millisecond {
			return os.Remove(path)
		}
	}
}

// imports imports all that there is.
func (d *driver) imports(ctx context.Context, name string) {
	all, err := foreign.Find(ctx, d.tool, &foreign.FindOptions{Home: d.tools()})
	if err != nil {
		d.note("find: %v", err)
	}
	for _, h := range all {
		h.Modified = h.Modified.UTC()
		told, err := json.Marshal(h)
		d.note("found %s %s %s %v", told, h.Project(), h.SessionID(), err)
	}
	if name == "0" || name == "again" { // a process takes longer than an import
		d.count(ctx)
	}
	if d.seed%13 == 5 {
		slices.Reverse(all)
	}
	for _, h := range all {
		o := &foreign.Options{}
		if d.seed%11 == 3 {
			o.Project = "one"
		}
		if d.seed%5 == 2 {
			dry := *o
			dry.DryRun = true
			d.bring(ctx, h, &dry)
		}
		d.bring(ctx, h, o)
	}
	d.tree()
}

// bring imports a history.
func (d *driver) bring(ctx context.Context, h foreign.History, o *foreign.Options) {
	r, err := foreign.Import(ctx, d.p, h, o)
	if err != nil {
		line := &foreign.LineError{}
		d.note("import: %v %t", err, errors.As(err, &line))
	}
	d.note("report %+v", *r)
}

// count notes what the home holds.
func (d *driver) count(ctx context.Context) {
	if d.counts == "" {
		return
	}
	cmd := exec.CommandContext(ctx, d.counts, "--from", string(d.tool), "--sessions-root", d.store())
	cmd.Env = append(os.Environ(), "CLAUDE_CONFIG_DIR="+d.tools(), "CODEX_HOME="+d.tools())
	said, err := cmd.CombinedOutput()
	d.note("%s%v", said, err)
}

// session is a session in the store.
type session struct {
	id string
	st *sessionstore.Store
}

// sessions returns the sessions in the store, by project and id.
func (d *driver) sessions() (all []session) {
	found, err := filepath.Glob(filepath.Join(d.store(), "*", "sessions", "*"))
	if err != nil {
		d.note("sessions: %v", err)
	}
	for _, dir := range found {
		st, err := d.p.Store(filepath.Base(filepath.Dir(filepath.Dir(dir))))
		if err == nil && st.Exists(filepath.Base(dir)) {
			all = append(all, session{filepath.Base(dir), st})
		}
	}
	return all
}

// weAct changes sessions in the store between two imports, or lets one go on in the tool.
func (d *driver) weAct(ctx context.Context) {
	all := d.sessions()
	for range d.r.IntN(3) {
		if len(all) == 0 {
			return
		}
		s, err := all[d.r.IntN(len(all))], error(nil)
		act := d.r.IntN(10)
		switch {
		case act < 3:
			err = s.st.Append(ctx, s.id, ours(d.r)...)
		case act == 3:
			err = rewind(ctx, s, d.r)
		case act == 4:
			err = s.st.Delete(ctx, s.id)
		case act == 5:
			_, _, err = s.st.SetName(ctx, s.id, sessionstore.Naming{Name: "Named here", Source: "manual"})
		default:
			var w bytes.Buffer
			done, failed := foreign.Export(ctx, s.st, s.id, d.tool, &w, nil)
			if err = failed; err == nil {
				d.home.adopt(done.File, w.Bytes())
			}
		}
		d.note("we act %d on %s: %v", act, s.id, err)
	}
}

// ours returns messages that another program appends.
func ours(r *rand.Rand) (all []sessionstore.Message) {
	rows := []any{map[string]any{"role": "user", "content": "ours"}}
	if r.IntN(2) == 0 {
		arguments := []any{map[string]any{"a": 1}, `{"a": 1}`, map[string]any{}}[r.IntN(3)]
		rows = append(rows,
			map[string]any{"role": "assistant", "content": "", "tool_calls": []any{map[string]any{"id": "call_ours", "tool": "bash", "arguments": arguments}}},
			map[string]any{"role": "tool", "tool_call_id": "call_ours", "name": "bash", "content": "done"})
	}
	for _, row := range append(rows, map[string]any{"role": "assistant", "content": "answer of ours"}) {
		m, err := sessionstore.NewMessage(row)
		if err != nil {
			panic(err)
		}
		all = append(all, m)
	}
	return all
}

// rewind drops the last messages of a session.
func rewind(ctx context.Context, s session, r *rand.Rand) error {
	old, err := s.st.Revision(ctx, s.id)
	if err != nil {
		return err
	}
	loaded, err := s.st.Load(ctx, s.id)
	if err != nil {
		return err
	}
	_, err = s.st.Replace(ctx, s.id, old, loaded.Messages[:r.IntN(len(loaded.Messages)+1)])
	return err
}

// spent notes the usage of all sessions.
func (d *driver) spent(ctx context.Context) {
	var all []string
	for u, err := range foreign.Usage(ctx, d.p, projects.Query{}) {
		all = append(all, fmt.Sprintf("usage %+v %v", u, err))
	}
	slices.Sort(all)
	d.note("%s", strings.Join(all, "\n"))
}

// export notes what a session becomes as a file of each tool.
func (d *driver) export(ctx context.Context, s session) {
	for _, tool := range []foreign.Tool{foreign.Claude, foreign.Codex} {
		var w bytes.Buffer
		e, err := foreign.Export(ctx, s.st, s.id, tool, &w, nil)
		d.note("export %s %s %s %s %d %d %+v %v\n%s", s.id, tool, e.ID, e.File, e.Original, e.Messages, e.Changes, err, short(w.Bytes()))
	}
	longer, err := foreign.Longer(s.st, s.id)
	d.note("longer %t %v", longer, err)
}

// tree notes all files of the store.
func (d *driver) tree() {
	unpacker, err := zstd.NewReader(nil)
	if err != nil {
		panic(err)
	}
	defer unpacker.Close()
	err = filepath.WalkDir(d.store(), func(path string, e fs.DirEntry, err error) error {
		if err == nil && e.IsDir() && e.Name() == ".sessionstore" {
			return fs.SkipDir
		}
		if err != nil || e.IsDir() || strings.HasPrefix(e.Name(), "index") || strings.Contains(e.Name(), ".lock") {
			return err
		}
		fi, err := e.Info()
		if err != nil {
			return err
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		at := fi.ModTime().UTC()
		if at.After(now()) {
			at = now()
		}
		d.note("-- %s %s", path, at.Format(time.RFC3339Nano))
		if strings.HasSuffix(path, ".zst") {
			if data, err = unpacker.DecodeAll(data, nil); err != nil {
				return err
			}
			data = fmt.Appendf(nil, "%x %d", sha256.Sum256(data), len(data))
		}
		d.said.Write(short(data))
		d.said.WriteByte('\n')
		return nil
	})
	if err != nil {
		d.note("tree: %v", err)
	}
}

// short returns lines of which the long ones end with a hash.
func short(data []byte) []byte {
	var b bytes.Buffer
	for l := range bytes.Lines(data) {
		if len(l) > 700 {
			l = fmt.Appendf(nil, "%s… %x\n", l[:700], sha256.Sum256(l))
		}
		b.Write(l)
	}
	return b.Bytes()
}
