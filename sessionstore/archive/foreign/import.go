package foreign

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/amplifier-go/sessionstorage/sessionstore"
)

// Options control [Import]. A nil *Options is the zero value.
type Options struct {
	// Project is the name of the project that the sessions come into. "" takes
	// [History.Project].
	Project string

	// ActiveOnly makes a new session of what the tool would resume: what stands before
	// the last compaction becomes a fork. A session that was imported before goes on
	// in the way that it was.
	ActiveOnly bool

	// DryRun writes nothing, and reports what would be done.
	DryRun bool
}

// Import makes sessions of a history, or brings those up to date that an earlier
// import made; see the package's comment. Each is durable when Import returns, if
// the stores promise that, and those that the report names are there beside an
// error as well.
//
// The file is read up to the size that it has at the beginning, so the tool may go
// on writing. The error Is [ErrEmpty] when there is no conversation in it,
// [ErrChanged] when what it held then changed, [ErrWhole] when Options.ActiveOnly is
// set for a session that holds the whole line, [ErrTool] for another tool, and
// [sessionstore.ErrLocked] when a host runs the session. Errors have no text of the
// history.
//
// [sessionstore.ErrLocked]: https://pkg.go.dev/github.com/amplifier-go/sessionstorage/sessionstore#ErrLocked
func Import(ctx context.Context, p *sessionstore.Projects, h History, opts *Options) (*Report, error) {
	o := Options{}
	if opts != nil {
		o = *opts
	}
	report := newReport()
	if formatOf(h.Tool) == nil {
		return report, fmt.Errorf("import history: %w %q", ErrTool, h.Tool)
	}
	if err := importAll(ctx, p, h, o, report); err != nil {
		return report, fmt.Errorf("import %s: %w", h.Path, err)
	}
	return report, nil
}

func importAll(ctx context.Context, p *sessionstore.Projects, h History, o Options, report *Report) error {
	main, leave, err := open(ctx, h.Path, h.Tool, h.ID, report)
	if err != nil {
		return err
	}
	defer leave()
	if main.t.title == "" && h.Title != "" {
		main.t.title, main.t.byPerson = h.Title, true
	}
	main.t.nameBy(h.summaries)
	report.Project = o.Project
	if report.Project == "" {
		report.Project = h.Project()
	}
	ld := &lander{dry: o.DryRun}
	if ld.st, err = storeOf(ctx, p, report.Project, o.DryRun); err != nil {
		return err
	}
	top := main.top(h.Parent)
	s, err := ld.scope(top.id, o.ActiveOnly)
	if err != nil {
		return err
	}
	main.t.setScope(s)
	if err := ld.keep(main, top.id); err != nil {
		return err
	}
	if err := main.findEnd(ctx); err != nil {
		return err
	}
	var others []target
	if h.Parent != "" {
		if repeatsConversation(h.Path) {
			report.Left[whyCopy] += main.t.linesRead
			return ErrEmpty
		}
		top.chain = main.t.agent(s)
	} else {
		leaves := main.t.leaves()
		top.chain = main.t.conversation(leaves, s)
		others = main.others(top, leaves)
	}
	if err := report.countFile(top, others, h.Path); err != nil {
		return err
	}
	main.t.calls = nil // they are counted, and take memory
	if len(top.chain) > 0 {
		others = append([]target{top}, others...)
	} else if len(others) > 0 {
		others[0].original = true // nothing but sub-agents stand in the file
	}
	if len(others) == 0 && len(h.Agents) == 0 {
		return ErrEmpty
	}
	var failed error
	for _, tg := range others {
		if err := errors.Join(ld.keep(main, top.id), report.land(ctx, ld, tg)); err != nil {
			if failed = errors.Join(failed, err); ctx.Err() != nil {
				return failed
			}
		}
	}
	sessions := map[string]string{h.ID: top.id}
	for _, path := range h.Agents {
		if err := importAgent(ctx, ld, top, path, sessions); err != nil {
			if failed = errors.Join(failed, fmt.Errorf("%s: %w", path, err)); ctx.Err() != nil {
				return failed
			}
		}
	}
	if failed == nil && len(report.Sessions) == 0 {
		return ErrEmpty
	}
	return failed
}

// top returns the session of the conversation of a file. It is a sub-session when
// the file says that a sub-agent wrote it.
func (h *history) top(parent string) target {
	tg := target{history: h, kind: Conversation, id: uuid5(h.tool, h.id), original: true, mine: func(at int32) bool { return !h.t.records.at(at).is(isSidechain) }}
	if parent != "" {
		id, name := h.format.agent(h.path, h.t)
		tg.kind, tg.agent, tg.foreign, tg.parent, tg.id = Agent, name, id, uuid5(h.tool, parent), subID(h.tool, h.id, name)
		tg.mine = all
		return tg
	}
	switch th := h.t.thread; {
	case th.spawner != "":
		tg.kind, tg.agent, tg.parent = Agent, th.agent, uuid5(h.tool, th.spawner)
		tg.id, tg.mine = subID(h.tool, h.id, th.agent), all
	case th.original != "":
		tg.parent, tg.turn = uuid5(h.tool, th.original), th.shared
	}
	return tg
}

// all is the mine of a session whose file has nothing of another one.
func all(int32) bool { return true }

func (r *Report) land(ctx context.Context, ld *lander, tg target) error {
	done, err := ld.land(ctx, tg)
	if err == nil {
		r.Sessions = append(r.Sessions, done)
	}
	return err
}

// others returns the sessions that the file of a conversation makes beside it.
func (h *history) others(top target, leaves []int32) (made []target) {
	found, others, unplaced := h.t.branches(top.chain, leaves)
	h.report.Branches += others
	for _, u := range unplaced {
		if len(h.report.Unplaced) < maxUnplaced {
			h.report.Unplaced = append(h.report.Unplaced, LineError{int(h.t.line(u.at)) + 1, u.why})
		}
	}
	for _, b := range found {
		key := h.id + "/branch/" + h.recordID(b.prompt)
		chain := h.t.back(b.leaf, h.t.scope)
		made = append(made, target{
			history: h, kind: Branch, id: uuid5(h.tool, key), chain: chain, parent: top.id, turn: h.sharedTurns(chain, b.prompt),
		})
	}
	var roots []int32
	for _, b := range h.t.sidechains() {
		if roots == nil {
			roots = h.t.roots()
		}
		first := h.recordID(b.prompt)
		made = append(made, target{
			history: h, kind: Agent, id: subID(h.tool, h.id+"/sidechain/"+first, "agent"), chain: h.t.back(b.leaf, h.t.scope),
			parent: top.id, agent: "agent", foreign: first, mine: func(at int32) bool { return roots[at] == b.prompt+1 },
		})
	}
	return made
}

// recordID returns the tool's id of a record, or its line where there is none.
func (h *history) recordID(at int32) string {
	offset := h.t.records.at(at).offset
	raw, err := newInput(h.file, h.size).line(offset)
	if err == nil {
		if p, err := h.format.part(raw, offset, h.t.nth(at)); err == nil && p.id() != "" {
			return p.id()
		}
	}
	return fmt.Sprint("line ", h.t.line(at)+1)
}

// sharedTurns counts the prompts of a chain before its own first one.
func (h *history) sharedTurns(chain []int32, first int32) int {
	n := 0
	for _, at := range chain[:max(0, slices.Index(chain, first))] {
		if h.t.records.at(at).is(isPerson) {
			n++
		}
	}
	return n
}

// importAgent makes a sub-session of the file of a sub-agent. sessions has the ids
// of the sessions that were made before, by the tool's ids, and gets this one's.
func importAgent(ctx context.Context, ld *lander, top target, path string, sessions map[string]string) error {
	h, leave, err := open(ctx, path, top.tool, "", top.report)
	if err != nil {
		return err
	}
	defer leave()
	if top.tool == Claude && (repeatsConversation(path) || top.t.has(h.t)) {
		top.report.Left[whyCopy] += h.t.linesRead
		return nil
	}
	id, name := h.format.agent(path, h.t)
	h.id = id
	if h.t.thread.id == "" { // ids of the tool's sub-agents are unique within a session only
		h.id = top.history.id + "/" + id
	}
	h.t.setScope(top.t.scope)
	chain := h.t.agent(h.t.scope)
	tg := target{history: h, kind: Agent, id: subID(h.tool, h.id, name), chain: chain, parent: top.id, agent: name, foreign: id, original: true, mine: all}
	if parent := sessions[h.t.thread.spawner]; parent != "" {
		tg.parent = parent
	}
	if err := top.report.countFile(tg, nil, path); err != nil {
		return err
	}
	if len(chain) == 0 {
		top.report.Left[whyAgent] += h.t.linesRead
		return nil
	}
	if err := ld.keep(h, tg.id); err != nil {
		return err
	}
	sessions[id] = tg.id
	return top.report.land(ctx, ld, tg)
}

// storeOf returns the store of a project. In a dry run it is nil where there is
// none yet.
func storeOf(ctx context.Context, p *sessionstore.Projects, slug string, dry bool) (*sessionstore.Store, error) {
	if dry {
		slugs, err := p.Slugs(ctx)
		if err != nil || !slices.Contains(slugs, slug) {
			return nil, err
		}
	}
	st, err := p.Store(slug)
	if errors.Is(err, sessionstore.ErrClosed) {
		return nil, err
	}
	return st, err
}
