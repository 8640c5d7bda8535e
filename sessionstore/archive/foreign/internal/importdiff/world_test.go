package importdiff

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/klauspost/compress/zstd"

	"github.com/amplifier-go/sessionstorage/sessionstore/archive/foreign"
)

// row is a line of a file.
type row = map[string]any

// world is a home with what the files of both tools share.
type world struct {
	r       *rand.Rand
	seed    uint64
	seconds int // since the beginning
	ids     int
	words   int
	files   map[string]*file // by path in the home
}

// file is a file of a tool.
type file struct {
	rows         []row
	session, cwd string
	adopted      []byte // lines ahead of the rows, which an export made
	damage       string // what is wrong with the bytes; "": nothing
	at           int    // where it is wrong
	last, agent  string // of Claude Code: the last record, and the sub-agent
	aside        bool
	numbered     bool // of Codex, and the rest
	ordinal      int
	segment      string
}

func newHome(tool foreign.Tool, seed uint64) home {
	w := world{r: rand.New(rand.NewPCG(seed, 3)), seed: seed, files: map[string]*file{}}
	if tool == foreign.Claude {
		return &claude{w}
	}
	return &codex{w}
}

func (w *world) often(of100 int) bool { return w.r.IntN(100) < of100 }

// pick returns one of the values.
func pick[T any](w *world, of ...T) T { return of[w.r.IntN(len(of))] }

// paths returns the paths of the files that fit, in order.
func (w *world) paths(fits func(path string, f *file) bool) (all []string) {
	for _, path := range slices.Sorted(maps.Keys(w.files)) {
		if fits(path, w.files[path]) {
			all = append(all, path)
		}
	}
	return all
}

func (w *world) word() string {
	w.words++
	return fmt.Sprint("w", w.words)
}

func (w *world) number() int {
	w.ids++
	return w.ids
}

func (w *world) uuid(kind int) string {
	return fmt.Sprintf("%08x-%04x-4000-8000-%012x", w.seed%(1<<32), kind, w.number())
}

const stampForm = "2006-01-02T15:04:05.000Z"

func (w *world) time() time.Time {
	return time.Date(2025, 4, 1, 10, 0, w.seconds, 0, time.UTC)
}

// tick returns a later time.
func (w *world) tick() string {
	w.seconds += 1 + w.r.IntN(20)
	return w.time().Format(stampForm)
}

// copyOf returns a copy of rows, which shares nothing with them.
func copyOf[T any](v T) (to T) {
	b, err := json.Marshal(v)
	if err == nil {
		err = json.Unmarshal(b, &to)
	}
	if err != nil {
		panic(err)
	}
	return to
}

func (f *file) clone() *file {
	g := *f
	g.rows = copyOf(f.rows)
	return &g
}

// line returns a row as the bytes of a line.
func line(r row) []byte {
	b, err := json.Marshal(r)
	if err != nil {
		panic(err)
	}
	return append(b, '\n')
}

// bytes returns the file as it is on the disk.
func (f *file) bytes() []byte {
	b := bytes.Clone(f.adopted)
	for i, r := range f.rows {
		l := line(r)
		if body, ok := r["payload"].(row); ok && f.damage == "bare" { // as old versions of Codex wrote it
			l = line(body)
		}
		if i == f.at%len(f.rows) {
			switch f.damage {
			case "broken":
				l = l[:len(l)/2]
				l = append(l, '\n')
			case "garbage":
				l = append([]byte("\x00\x00{no json\n[1]\n"), l...)
			case "blank":
				l = append([]byte("\n  \n"), l...)
			case "twice":
				l = append(l, l...)
			case "windows":
				l = append(l[:len(l)-1], "\r\n"...)
			}
		}
		b = append(b, l...)
	}
	switch f.damage {
	case "torn":
		b = b[:len(b)-1-f.at%min(len(b)-1, 40)]
	case "unended":
		b = bytes.TrimSuffix(b, []byte("\n"))
	}
	return b
}

var packer, _ = zstd.NewWriter(nil) // it has no options to refuse

// hurt damages a file, or mends it.
func (w *world) hurt(f *file) {
	f.damage, f.at = pick(w, "", "broken", "garbage", "blank", "twice", "windows", "torn", "torn", "unended"), w.r.IntN(1000)
}

// write writes the files, with the time of their newest line, and removes others.
func (w *world) write(dir, top string) error {
	if err := os.RemoveAll(dir); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if err := os.MkdirAll(filepath.Join(dir, top), 0o700); err != nil {
		return err
	}
	for path, f := range w.files {
		if len(f.rows) == 0 {
			continue
		}
		name := filepath.Join(dir, filepath.FromSlash(path))
		content := f.bytes()
		if f.damage == "packed" { // as Codex does with old files
			name, content = name+".zst", packer.EncodeAll(content, nil)
		}
		if err := write(name, content); err != nil {
			return err
		}
		newest := ""
		for _, r := range f.rows {
			s, _ := r["timestamp"].(string)
			newest = max(newest, s)
		}
		at, err := time.Parse(stampForm, cmp.Or(newest, w.time().Format(stampForm)))
		if err != nil {
			return err
		}
		if err := os.Chtimes(name, at, at); err != nil {
			return err
		}
	}
	return nil
}

// cut drops the last rows of a file.
func (w *world) cut(f *file) { f.rows = f.rows[:1+w.r.IntN(len(f.rows))] }

// hole drops some rows from the middle of a file.
func (w *world) hole(f *file) {
	i := w.r.IntN(len(f.rows))
	f.rows = slices.Delete(f.rows, i, min(len(f.rows), i+pick(w, 1, 1, 3)))
}

// image is a picture as Claude Code has it.
func (w *world) image() row {
	return row{"type": "image", "source": row{"type": "base64", "media_type": "image/png", "data": "iVBORw0" + w.word()}}
}

// oddText is a text in the user's name that is no plain prompt.
func (w *world) oddText() string {
	return pick(w,
		"<command-name>/clear</command-name>\n<command-message>clear</command-message>\n<command-args></command-args>",
		"<command-message>review is running</command-message>\n<command-name>/review</command-name>\n<command-args>"+w.word()+"</command-args>",
		"<bash-input>ls "+w.word()+"</bash-input>", "<bash-stdout>a</bash-stdout><bash-stderr></bash-stderr>",
		"[Request interrupted by user]", "[Request interrupted by user for tool use]", "Unknown slash command: "+w.word(),
		"<ide_opened_file>The user opened a</ide_opened_file>", "<local-command-stdout>x</local-command-stdout>", "  ", "",
		"<system-reminder>\nnote\n</system-reminder>", "# AGENTS.md instructions for /a\n\n<INSTRUCTIONS>\nx\n</INSTRUCTIONS>",
		"<environment_context>\n<cwd>/home/a/env</cwd>\n</environment_context>", "<user_shell_command>ls</user_shell_command>",
		"# Context from my IDE setup:\n\n## My request for Codex:\n"+w.word(), "This session is being continued from a previous conversation that ran out of context "+w.word(),
		"<image name=[Image #1]>", strings.Repeat("long "+w.word()+" ", 60))
}
