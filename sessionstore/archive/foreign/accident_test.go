package foreign_test

import (
	"context"
	"crypto/sha256"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
	_ "unsafe" // for linkname

	"github.com/amplifier-go/sessionstorage/sessionstore/projects"

	"github.com/amplifier-go/sessionstorage/internal/disk/seam"
	"github.com/amplifier-go/sessionstorage/internal/test/testenv"
	"github.com/amplifier-go/sessionstorage/sessionstore"
	"github.com/amplifier-go/sessionstorage/sessionstore/archive/foreign"
)

var accidentRuns = flag.Int("accidents", 0, "how many runs TestAccidents makes; 0: 600 with TEST_LONG set, else 60")

// TestAccidents imports histories again and again, while their files are cut, put
// back, copied, removed, and go on in other ways, here as well, and imports are killed.
// Whatever an import took stays, in one place of a line of descent, and a report names
// the sessions to which turns went that left another one.
func TestAccidents(t *testing.T) {
	t.Parallel()
	seed := testenv.Seed(t)
	runs := testenv.Share(20, 60, 600)
	if *accidentRuns > 0 {
		runs = *accidentRuns
	}
	for n := range runs {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			t.Parallel()
			plan := drawPlan(rand.New(rand.NewPCG(seed, uint64(n))))
			if failed := plan.run(t.Context()); failed != nil {
				steps := strings.Join(failed.story, "\n\t")
				short := plan.shortest(t.Context(), failed)
				t.Errorf("seed %d, run %d: %s\n\t%s\nthe shortest that fails so: %s\n\t%s", seed, n, failed, steps, short, strings.Join(short.story, "\n\t"))
			}
		})
	}
}

// TestFamilies imports the histories in which accidents happen, without one. What was
// said one behind the other stands in one session, also where a record names a parent
// that is nowhere, and where a file goes on from another one.
func TestFamilies(t *testing.T) {
	t.Parallel()
	for _, f := range marked().all {
		t.Run(string(f.tool)+" "+f.name, func(t *testing.T) {
			t.Parallel()
			p := plan{families: []family{f}, cut: 1, steps: []step{{what: "import"}, {what: "together"}}}
			if failed := p.run(t.Context()); failed != nil {
				t.Error(failed)
			}
		})
	}
}

// plan is what happens in one run.
type plan struct {
	families []family
	cut      uint64
	steps    []step
}

func drawPlan(r *rand.Rand) plan {
	all := marked().all
	p := plan{cut: r.Uint64()}
	p.families = []family{all[r.IntN(len(all))]}
	if other := all[r.IntN(len(all))]; other.tool != p.families[0].tool && r.IntN(3) == 0 {
		p.families = append(p.families, other)
	}
	draw := func(what string) {
		p.steps = append(p.steps, step{what, r.Uint64(), r.Uint64(), r.Uint64()})
	}
	done := 0
	for imports := 2 + r.IntN(7); imports > 0; imports-- {
		draw("import")
		for range 1 + r.IntN(3) {
			draw(accidents[r.IntN(len(accidents))])
			if done++; done%3 == 0 {
				draw("here")
			}
		}
	}
	draw("import")
	return p
}

// failure is what went wrong in a run, and what happened until then.
type failure struct {
	kind, what string
	story      []string
	steps      int
}

func (f *failure) Error() string { return f.kind + ": " + f.what }

// newRunning returns a run in a directory, with the files of families.
func newRunning(ctx context.Context, dir string, families []family, cut uint64) *running {
	w := newWords(50000)
	w.class = maps.Clone(marked().words.class)
	r := &running{ctx: ctx, dir: filepath.Join(dir, "store"), words: w, due: map[string]bool{}, of: map[string]map[string]bool{}, ours: map[string]bool{}, aside: map[string]bool{}, torn: map[string]bool{}, done: map[string]bool{}}
	r.home = newHome(filepath.Join(dir, "home"), w, families, cut)
	for _, f := range families {
		r.tell("%s: %s", f.tool, f.name)
	}
	for _, name := range slices.Sorted(maps.Keys(r.home.files)) {
		r.tell("%s has %d of its lines", name, strings.Count(r.home.files[name].content, "\n"))
	}
	var err error
	r.p, err = projects.Open(r.dir, &sessionstore.Options{Durability: sessionstore.Relaxed})
	must(err)
	return r
}

// run does all of it, up to the first thing that is wrong.
func (p plan) run(ctx context.Context) *failure {
	dir, err := os.MkdirTemp("", "accident-")
	must(err)
	defer os.RemoveAll(dir)
	r := newRunning(ctx, dir, p.families, p.cut)
	defer func() { must(r.p.Close()) }()
	for i, s := range p.steps {
		var failed *failure
		switch s.what {
		case "import":
			failed = r.imports()
		case "kill":
			failed = r.killed(1 + int(s.a%150))
		case "here":
			failed = r.say(s)
		case "together":
			failed = r.together()
		default:
			r.tell("%s", r.home.do(s))
		}
		if failed != nil {
			failed.story, failed.steps = slices.Concat(r.story, r.home.where(failed.what), r.kept()), i+1
			return failed
		}
	}
	return nil
}

// shortest leaves steps out as long as the rest fails in the same way.
func (p plan) shortest(ctx context.Context, failed *failure) *failure {
	p.steps = p.steps[:failed.steps]
	for again := true; again; {
		again = false
		for i := len(p.steps) - 2; i >= 0; i-- {
			less := p
			less.steps = slices.Concat(p.steps[:i], p.steps[i+1:])
			if f := less.run(ctx); f != nil && f.kind == failed.kind {
				p.steps, failed, again = less.steps[:f.steps], f, true
				i = min(i, len(p.steps)-1)
			}
		}
	}
	p.cut = 1 // all lines are there from the beginning
	if f := p.run(ctx); f != nil && f.kind == failed.kind {
		return f
	}
	return failed
}

// running is a run under way.
type running struct {
	ctx   context.Context
	dir   string
	p     *projects.Projects
	home  *home
	words *words
	story []string

	due   map[string]bool            // words that an import took: they stay
	done  map[string]bool            // words in which something was done, or before it, in what an import took
	of    map[string]map[string]bool // by word: the sessions of the tools whose files ever had it, and whether something is done in it there now
	ours  map[string]bool            // words that were said here
	aside map[string]bool            // words of answers without a prompt of their own, once
	short map[string]bool            // names of files that the last import named as shorter ones: nothing of them came
	torn  map[string]bool            // threads of Codex that lost what they go on from
	was   map[place]*stored          // what the last import left, nil where one was killed since

	wasKilled bool // the last import that was to be killed
}

func (r *running) tell(format string, args ...any) {
	r.story = append(r.story, fmt.Sprintf(format, args...))
}

// place is where a session is.
type place struct{ project, id string }

func (p place) String() string { return p.project + "/" + p.id[:8] }

// stored is a session.
type stored struct {
	words  []string
	parent string
	of     string // the tool's id of the session
	fork   bool
}

func (s *stored) has(word string) bool { return slices.Contains(s.words, word) }

// importAll imports what Find finds into p, that which changed last in the end.
func (r *running) importAll(p *projects.Projects) (reports []*foreign.Report, failed error) {
	r.short = map[string]bool{}
	for _, tool := range []foreign.Tool{foreign.Claude, foreign.Codex} {
		all, err := foreign.Find(r.ctx, tool, &foreign.FindOptions{Home: filepath.Join(r.home.dir, string(tool))})
		failed = errors.Join(failed, err)
		slices.SortStableFunc(all, func(x, y foreign.History) int { return x.Modified.Compare(y.Modified) })
		for _, h := range all {
			report, err := foreign.Import(r.ctx, p, h, nil)
			if !errors.Is(err, foreign.ErrEmpty) {
				failed = errors.Join(failed, err)
			}
			reports = append(reports, report)
			for _, path := range report.Shorter {
				name, err := filepath.Rel(r.home.dir, path)
				must(err)
				r.short[filepath.ToSlash(name)] = true
			}
		}
	}
	return reports, failed
}

// imports imports all, looks, and imports again, which changes nothing.
func (r *running) imports() *failure {
	r.tell("import")
	before := r.was
	reports, err := r.importAll(r.p)
	if err != nil {
		return &failure{kind: "the import fails", what: err.Error()}
	}
	r.readFiles(true)
	now, failed := r.look(nil)
	if failed == nil {
		failed = r.left(before, now, reports)
	}
	if failed == nil {
		failed = counted(reports)
	}
	if failed != nil {
		return failed
	}
	r.was = now
	bytes := hashes(r.dir)
	again, err := r.importAll(r.p)
	if err != nil {
		return &failure{kind: "the second import fails", what: err.Error()}
	}
	for _, report := range again {
		for _, s := range report.Sessions {
			if s.Action != foreign.Unchanged {
				return &failure{kind: "the second import is not unchanged", what: fmt.Sprint(s)}
			}
		}
	}
	for name, sum := range hashes(r.dir) {
		if bytes[name] != sum {
			return &failure{kind: "the second import changes bytes", what: name}
		}
		delete(bytes, name)
	}
	if len(bytes) > 0 {
		return &failure{kind: "the second import removes files", what: fmt.Sprint(slices.Sorted(maps.Keys(bytes)))}
	}
	return nil
}

// killed imports all, and nothing reaches the disk from the nth operation on.
func (r *running) killed(n int) *failure {
	r.tell("an import is killed before operation %d", n)
	gone := errors.New("killed")
	count := 0
	p, err := openSeamed(r.dir, &sessionstore.Options{Durability: sessionstore.Relaxed}, &seam.Seam{Before: func(seam.Op) error {
		if count++; count >= n {
			return gone
		}
		return nil
	}})
	if err == nil {
		_, _ = r.importAll(p)
		_ = p.Close()
	}
	r.wasKilled = count >= n
	_, failed := r.look(r.readFiles(false))
	r.was = nil
	return failed
}

// say has a turn said here.
func (r *running) say(s step) *failure {
	all, failed := r.sessions()
	if failed != nil || len(all) == 0 {
		return failed
	}
	at := slices.SortedFunc(maps.Keys(all), comparePlaces)[s.a%uint64(len(all))]
	st, err := r.p.Store(at.project)
	must(err)
	var said []string
	for _, role := range []string{"user", "assistant"} {
		word := r.words.of(anEnd, "")
		r.ours[word], r.due[word], r.done[word] = true, true, true
		said = append(said, word)
		m, err := sessionstore.Text(role, "here "+word, time.Unix(1, 0))
		must(err)
		if err := st.Append(r.ctx, at.id, m); err != nil {
			return &failure{kind: "nothing can be said here", what: err.Error()}
		}
	}
	r.tell("a turn is said here, in %s: %s", at, strings.Join(said, " "))
	if r.was != nil {
		r.was[at].words = append(r.was[at].words, said...)
	}
	return nil
}

func comparePlaces(a, b place) int { return strings.Compare(a.String()+a.id, b.String()+b.id) }

// readFiles notes what the files of the tools say. What a whole import is given, it
// takes. It returns all that they say now.
func (r *running) readFiles(whole bool) (all told) {
	all = told{}
	for _, of := range r.of {
		for id := range of {
			of[id] = false
		}
	}
	for name, f := range r.home.files {
		if !f.gone && strings.HasSuffix(name, ".jsonl") {
			maps.Copy(r.aside, r.words.answersBeside(toolOf(name), f.content))
		}
	}
	for name, f := range r.home.files {
		if f.gone || !strings.HasSuffix(name, ".jsonl") {
			continue
		}
		id := threadOf(toolOf(name), name)
		if toolOf(name) == foreign.Codex && r.home.baseless(name) {
			r.torn[id] = true
		}
		for word, done := range r.words.readFile(toolOf(name), f.content) {
			if r.of[word] == nil {
				r.of[word] = map[string]bool{}
			}
			r.of[word][id] = r.of[word][id] || done
			r.done[word], all[word] = r.done[word] || done && whole, true
			if whole && done && !r.aside[word] && !r.orphan(name) && !r.short[name] {
				r.due[word] = true
			}
		}
	}
	return all
}

// orphan reports whether a file repeats a conversation that is not there: it is left
// out.
func (r *running) orphan(name string) bool {
	if !repeats(name) {
		return false
	}
	main := r.home.files[filepath.ToSlash(filepath.Dir(filepath.Dir(name)))+".jsonl"]
	return main == nil || main.gone || main.content == ""
}

// sessions returns what is stored, in all projects.
func (r *running) sessions() (map[place]*stored, *failure) {
	slugs, err := r.p.Slugs(r.ctx)
	must(err)
	all := map[place]*stored{}
	for _, slug := range slugs {
		st, err := r.p.Store(slug)
		must(err)
		infos, err := st.List(r.ctx, &sessionstore.ListOptions{All: true})
		if err != nil {
			return nil, &failure{kind: "a project cannot be listed", what: err.Error()}
		}
		for _, info := range infos {
			s := &stored{}
			md, err := st.Metadata(r.ctx, info.ID)
			if err == nil {
				s.parent = md.Text("parent_id")
				_, s.fork = md.Lookup("forked_from_turn")
				raw, _ := md.Lookup("import")
				s.of, _, _ = strings.Cut(text(parseRow(string(raw))["id"]), "/") // a sub-agent is of its session
			}
			for m, failed := range st.Messages(r.ctx, info.ID) {
				if err = errors.Join(err, failed); failed == nil {
					// Which call of one message stands first says nothing.
					s.words = append(s.words, slices.Sorted(slices.Values(wordPattern.FindAllString(string(m.AppendTo(nil)), -1)))...)
				}
			}
			if err != nil {
				return nil, &failure{kind: "a session cannot be read", what: err.Error()}
			}
			all[place{slug, info.ID}] = s
		}
	}
	return all, nil
}

// kept tells what is stored.
func (r *running) kept() (told []string) {
	all, _ := r.sessions()
	for _, p := range slices.SortedFunc(maps.Keys(all), comparePlaces) {
		told = append(told, fmt.Sprintf("(%s, below %.8s: %s)", p, all[p].parent, strings.Join(all[p].words, " ")))
	}
	return told
}

// counted looks at the numbers of reports.
func counted(reports []*foreign.Report) *failure {
	for _, report := range reports {
		left := 0
		for _, n := range report.Left {
			left += n
		}
		if left > report.Lines {
			return &failure{kind: "a report counts lines twice", what: fmt.Sprintf("%d lines became no message, of %d: %v", left, report.Lines, report.Left)}
		}
	}
	return nil
}

// hashes returns the hashes of all files below a directory.
func hashes(dir string) map[string][32]byte {
	all := map[string][32]byte{}
	must(filepath.WalkDir(dir, func(name string, e fs.DirEntry, err error) error {
		if err == nil && e.Name() == "imports" { // notes of imports, which may be lost
			return fs.SkipDir
		}
		if err != nil || !e.Type().IsRegular() {
			return err
		}
		raw, err := os.ReadFile(name)
		rel, _ := filepath.Rel(dir, name)
		all[rel] = sha256.Sum256(raw)
		return err
	}))
	return all
}

//go:linkname openSeamed github.com/amplifier-go/sessionstorage/sessionstore/projects.open
func openSeamed(dir string, opts *sessionstore.Options, hooks *seam.Seam) (*projects.Projects, error)
