package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/amplifier-go/sessionstorage/sessionstore"
	"github.com/amplifier-go/sessionstorage/slice"
)

// longLine is the least size in bytes at which one turn of a hundred has a long line.
const longLine = 1 << 20

// readTurns measures how parts of a transcript of MIB MiB are read, each time in a
// new process, and prints a line for each figure.
func readTurns(r *run) error {
	mib, err := r.number(0)
	if err != nil {
		return err
	}
	size, err := r.number(1)
	if err != nil {
		return err
	}
	times, err := r.number(2)
	if err != nil {
		return err
	}
	self, err := os.Executable()
	if err != nil {
		return err
	}
	peers, err := r.peersProgram()
	if err != nil {
		return err
	}
	t := &turnsRun{run: r, self: self, peers: peers, dir: filepath.Join(r.work, "sessions"), times: times, random: rand.New(rand.NewPCG(1, 1))}
	if err := t.make(int64(mib)<<20, size); err != nil {
		return err
	}
	time.Sleep(100 * time.Millisecond) // the file comes to rest
	for _, measure := range []func() error{t.build, t.fits, t.longTurn, t.resume, t.appended, t.load, t.sqlite} {
		if err := measure(); err != nil {
			return err
		}
	}
	return nil
}

// turnsRun is one transcript.
type turnsRun struct {
	*run
	self, peers string // programs
	dir         string // of sessions
	times       int
	random      *rand.Rand
	memory      float64 // the most of the processes, in MiB
	long        int     // each so many turns, one has the long line; 0: none has
}

func (t *turnsRun) path() string { return filepath.Join(t.dir, sessionID, "transcript.jsonl") }

// make writes turns of a prompt and four answers until there are so many bytes.
func (t *turnsRun) make(bytes int64, size int) error {
	if err := os.MkdirAll(filepath.Dir(t.path()), 0o700); err != nil {
		return err
	}
	f, err := os.OpenFile(t.path(), os.O_CREATE|os.O_WRONLY|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	answer := size
	if size >= longLine {
		t.long, answer = 100, 1<<10
	}
	w := bufio.NewWriterSize(f, 1<<20)
	row := func(role, text string) {
		n, _ := fmt.Fprintf(w, `{"role": %q, "content": %q}`+"\n", role, text) // Flush returns the errors
		bytes -= int64(n)
	}
	text, long := strings.Repeat("word ", answer/5), strings.Repeat("long ", size/5)
	for ; bytes > 0; t.n++ {
		row("user", fmt.Sprint("question ", t.n))
		for range 4 {
			row("assistant", text)
		}
		if t.long > 0 && t.n%t.long == 0 {
			row("assistant", long)
		}
	}
	return errors.Join(w.Flush(), f.Close())
}

// turn returns the number of a turn without the long line.
func (t *turnsRun) turn() int {
	for {
		if n := t.random.IntN(t.n); t.long == 0 || n%t.long != 0 {
			return n + 1
		}
	}
}

// each reads a part so many times, each time in a new process, after prepare. Every
// part must have at least so many messages. It prints the figures.
func (t *turnsRun) each(op string, times int, prepare func() error, part string, number func() int, least int) error {
	t.took, t.cpu, t.memory = nil, nil, 0
	for range times {
		if prepare != nil {
			if err := prepare(); err != nil {
				return fmt.Errorf("%s: %w", op, err)
			}
		}
		one, err := measured(t.self, []string{"part", t.dir, part, strconv.Itoa(number())}, "BENCH_CPU=1")
		if err == nil && one.N < least {
			err = errEmpty
		}
		if err != nil {
			return fmt.Errorf("%s: %w", op, err)
		}
		t.took = append(t.took, seconds(one.Median))
		t.cpu = append(t.cpu, seconds(one.CPU))
		t.memory = max(t.memory, one.Memory)
	}
	return t.print(op)
}

func seconds(n float64) time.Duration { return time.Duration(n * float64(time.Second)) }

func (t *turnsRun) print(op string) error {
	line := result{Op: op, N: t.n, Median: median(t.took).Seconds(), Memory: t.memory, CPU: median(t.cpu).Seconds()}
	line.P99, line.CPU99 = percentile(t.took, 99).Seconds(), percentile(t.cpu, 99).Seconds()
	t.took, t.cpu = nil, nil
	return json.NewEncoder(t.out).Encode(line)
}

// percentile returns the time within which so many of a hundred of the sorted times are.
func percentile(took []time.Duration, percent int) time.Duration {
	return took[(len(took)*percent+99)/100-1]
}

// build makes the index, and prints its size for each byte of the transcript.
func (t *turnsRun) build() error {
	if err := t.each("index-build", 1, nil, "turn", t.turn, turnRows); err != nil {
		return err
	}
	size := int64(0)
	err := filepath.WalkDir(filepath.Join(t.dir, ".sessionstore", "index"), func(_ string, e fs.DirEntry, err error) error {
		if err == nil && e.Type().IsRegular() {
			var fi fs.FileInfo
			if fi, err = e.Info(); err == nil {
				size += fi.Size()
			}
		}
		return err
	})
	fi, serr := os.Stat(t.path())
	if err := errors.Join(err, serr); err != nil {
		return err
	}
	_, err = fmt.Fprintf(t.out, `{"op":"index-size","n":%d,"share":%.6f}`+"\n", size, float64(size)/float64(fi.Size()))
	return err
}

// turnRows is the least number of messages in a turn.
const turnRows = 5

func (t *turnsRun) fits() error { return t.each("turn", t.times, nil, "turn", t.turn, turnRows) }

// longTurn reads the turns with a long line.
func (t *turnsRun) longTurn() error {
	if t.long == 0 {
		return nil
	}
	long := func() int { return 1 + t.long*t.random.IntN((t.n-1)/t.long+1) }
	return t.each("turn-long", t.times, nil, "turn", long, turnRows+1)
}

func (t *turnsRun) resume() error {
	return t.each("resume-25", t.times, nil, "window", func() int { return 25 }, 25)
}

// appended reads after an append of another process.
func (t *turnsRun) appended() error {
	a, err := startAppender(t.self, t.dir)
	if err != nil {
		return err
	}
	err = t.each("turn-appended", t.times, a.append, "turn", t.turn, turnRows)
	return errors.Join(err, a.end())
}

func (t *turnsRun) load() error {
	return t.each("load", 1, nil, "all", func() int { return 1 }, t.n)
}

// sqlite reads turns of the same transcript from SQLite, with a row for each
// message and an index of turns.
func (t *turnsRun) sqlite() error {
	one, err := measured(t.peers, []string{"sqlite", "turns", strconv.Itoa(t.n), strconv.Itoa(t.times)}, "BENCH_TRANSCRIPT="+t.path())
	if err != nil {
		return fmt.Errorf("turn-sqlite: %w", err)
	}
	one.Op = "turn-sqlite"
	return json.NewEncoder(t.out).Encode(one)
}

// parts are the parts of a session that can be read, by name. n is the turn, or the number
// of turns.
var parts = map[string]func(ctx context.Context, st *sessionstore.Store, n int) (rows []sessionstore.Message, err error){
	"turn": func(ctx context.Context, st *sessionstore.Store, n int) ([]sessionstore.Message, error) {
		v, err := st.View(ctx, sessionID)
		if err != nil {
			return nil, err
		}
		rows, err := v.Turn(ctx, n)
		return rows, errors.Join(err, v.Close())
	},
	"window": func(ctx context.Context, st *sessionstore.Store, n int) ([]sessionstore.Message, error) {
		return slice.ResumeWindow(ctx, st, sessionID, n)
	},
	"all": func(ctx context.Context, st *sessionstore.Store, _ int) ([]sessionstore.Message, error) {
		s, err := st.Load(ctx, sessionID)
		if err != nil {
			return nil, err
		}
		return s.Messages, nil
	},
}

// readPart times the opening of a Store and the reading of a part, once: the cost in a new
// process. The n of the line is the number of messages in the part.
func readPart(r *run) error {
	if len(r.args) < 3 || parts[r.args[1]] == nil {
		return errUsage
	}
	n, err := r.number(2)
	if err != nil {
		return err
	}
	return r.time(func() error {
		st, err := sessionstore.Open(data(r.args[0]), nil)
		if err != nil {
			return err
		}
		rows, err := parts[r.args[1]](context.Background(), st, n)
		r.n = len(rows)
		return errors.Join(err, st.Close())
	})
}

// appendAsked appends a message, and one more after each line that it reads. It
// prints a line after each.
func appendAsked(r *run) error {
	if len(r.args) == 0 {
		return errUsage
	}
	st, err := sessionstore.Open(data(r.args[0]), &sessionstore.Options{Durability: sessionstore.Relaxed, CacheBytes: 4 << 30})
	if err != nil {
		return err
	}
	m, err := sessionstore.Text("assistant", strings.Repeat("more ", 200), time.Now())
	for asked := bufio.NewScanner(os.Stdin); err == nil; {
		if err = st.Append(context.Background(), sessionID, m); err == nil {
			_, err = fmt.Fprintln(r.out, "appended")
		}
		if !asked.Scan() {
			break
		}
	}
	return errors.Join(err, st.Close())
}

// appender is a process that appends.
type appender struct {
	process *exec.Cmd
	ask     io.WriteCloser
	answers *bufio.Reader
}

// startAppender starts a process that has appended once to the session in dir when
// startAppender returns.
func startAppender(program, dir string) (*appender, error) {
	a := &appender{process: exec.CommandContext(context.Background(), program, "append-asked", dir)}
	a.process.Stderr = os.Stderr
	out, err := a.process.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if a.ask, err = a.process.StdinPipe(); err != nil {
		return nil, err
	}
	a.answers = bufio.NewReader(out)
	if err := a.process.Start(); err != nil {
		return nil, err
	}
	if err := a.answered(); err != nil {
		return nil, errors.Join(err, a.end())
	}
	return a, nil
}

func (a *appender) answered() error {
	_, err := a.answers.ReadString('\n')
	return err
}

// append waits for one more append.
func (a *appender) append() error {
	if _, err := io.WriteString(a.ask, "\n"); err != nil {
		return err
	}
	return a.answered()
}

func (a *appender) end() error { return errors.Join(a.ask.Close(), a.process.Wait()) }
