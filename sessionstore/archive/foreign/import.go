package foreign

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
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
	if !isTool(h.Tool) {
		return report, fmt.Errorf("import history: %w %q", ErrTool, h.Tool)
	}
	if err := importAll(ctx, p, h, o, report); err != nil {
		return report, fmt.Errorf("import %s: %w", h.Path, err)
	}
	return report, nil
}

func importAll(ctx context.Context, p *sessionstore.Projects, h History, o Options, report *Report) error {
	main, leave, err := open(ctx, h.source(h.Path), h.Tool, h.ID, report)
	if err != nil {
		return err
	}
	defer leave()
	h.tellBroken(h.Path, report)
	ld := &lander{dry: o.DryRun, p: p, fixed: o.Project != ""}
	if err := ld.findHome(ctx, main, h, o.Project); err != nil {
		return err
	}
	if report.Project, err = projectOf(p, h, cmp.Or(ld.home, main.top(h.Parent).id), o.Project); err != nil {
		return err
	}
	if ld.st, err = storeOf(ctx, p, report.Project, o.DryRun); err != nil {
		return err
	}
	if h.Parent != "" && repeatsConversation(h.Path) {
		report.Left[whyCopy] += main.t.linesRead
		return ErrEmpty
	}
	if known, err := ld.hasThread(ctx, main, h); known || err != nil {
		return err
	}
	prepare := func(f *history) (target, error) { return ld.prepare(ctx, f, h, o) }
	top, err := prepare(main)
	if err != nil {
		return err
	}
	if err := report.countFile(top, main.beside(top), h.Path); err != nil {
		return err
	}
	main.t.calls = nil // they are counted, and take memory
	all, leaveKept, err := ld.settle(ctx, top, prepare)
	if err != nil {
		return err
	}
	defer leaveKept()
	if len(all.targets) == 0 && len(h.Agents) == 0 {
		return ErrEmpty
	}
	if ld.origin != "" && !ld.has(top.id) && len(top.chain) > 0 && main.t.isExport(top.chain) { // a copy under another name
		report.Sessions = append(report.Sessions, Imported{ld.origin, Conversation, Unchanged, 0})
		return nil
	}
	if all != main && len(all.targets) > 0 && all.targets[0].id == top.id {
		top = all.targets[0]
	}
	failed := report.landAll(ctx, ld, all)
	if ctx.Err() != nil {
		return failed
	}
	sessions := map[string]string{h.ID: top.id}
	for _, path := range h.Agents {
		if err := importAgent(ctx, ld, top, h, path, sessions); err != nil {
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

// tellBroken reports why a file is no part of another one's conversation.
func (h History) tellBroken(path string, report *Report) {
	if err := h.files[path].broken; err != nil {
		report.Damaged = append(report.Damaged, LineError{1, inFile(path, h.Path, err)})
	}
}

// prepare finds the sessions that a file of the history makes, and returns that of the
// conversation.
func (ld *lander) prepare(ctx context.Context, f *history, h History, o Options) (top target, err error) {
	if f.t.title == "" && h.Title != "" {
		f.t.title, f.t.byPerson = h.Title, true
	}
	f.t.nameBy(h.summaries)
	if h.threadID != "" {
		f.t.thread.original = h.threadID
	}
	if top = f.top(h.Parent); ld.home != "" {
		top.id, top.beside = ld.home, ld.place
	}
	s, err := ld.scope(top, o.ActiveOnly && top.place() == folder)
	if err != nil {
		return top, err
	}
	f.t.setScope(s)
	if err := ld.keep(f, top); err != nil {
		return top, err
	}
	if err := f.findEnd(ctx); err != nil {
		return top, err
	}
	if ld.home != "" {
		if top.here, err = f.findHere(ctx, ld.st, ld.home); err != nil {
			return top, err
		}
	}
	roots := f.t.roots()
	if h.Parent != "" {
		roots = nil
	}
	top = f.sessions(top, roots)
	if err := ld.findParent(ctx, &top, h); err != nil {
		return top, err
	}
	if len(top.chain) > 0 {
		f.targets[0] = top
	}
	return top, nil
}

// beside returns the sessions that a file makes beside that of its conversation.
func (h *history) beside(top target) []target {
	if len(top.chain) > 0 {
		return h.targets[1:]
	}
	return h.targets
}

// top returns the session of the conversation of a file. It is a sub-session when
// the file says that a sub-agent wrote it.
func (h *history) top(parent string) target {
	tg := target{history: h, kind: Conversation, id: uuid5(h.tool, h.id), original: true, mine: func(at int32) bool { return !h.t.records.at(at).is(isSidechain) }}
	if parent != "" {
		id, name, task := h.format.agent(h.path, h.t)
		tg.kind, tg.agent, tg.task, tg.foreign, tg.parent, tg.id = Agent, name, task, id, uuid5(h.tool, parent), subID(h.tool, h.id, name)
		tg.mine = all
		return tg
	}
	switch th := h.t.thread; {
	case th.spawner != "":
		tg.kind, tg.agent, tg.task, tg.parent = Agent, th.agent, h.t.title, uuid5(h.tool, th.spawner)
		tg.id, tg.mine = subID(h.tool, h.id, th.agent), all
	case th.original != "":
		tg.parent, tg.turn = uuid5(h.tool, th.original), th.shared
	}
	return tg
}

// all is the mine of a session whose file has nothing of another one.
func all(int32) bool { return true }

// sessions finds the sessions that the file makes: that of top, which it returns, those
// of the sub-agents that roots tells of, and the forks of each.
func (h *history) sessions(top target, roots roots) target {
	leaves := h.t.leaves(roots)
	top.chain = h.t.conversation(leaves[0], h.t.scope)
	if h.targets = nil; len(top.chain) > 0 {
		h.add(top, leaves[0])
	}
	delete(leaves, 0)
	for _, root := range slices.Sorted(maps.Keys(leaves)) {
		first := h.recordID(root - 1)
		h.add(target{
			history: h, kind: Agent, id: subID(h.tool, h.id+"/sidechain/"+first, "agent"), chain: h.t.back(leaves[root][0], h.t.scope),
			parent: top.id, agent: "agent", task: h.t.facts.summaries[h.t.records.at(root-1).key], foreign: first, mine: func(at int32) bool { return roots[at] == root },
		}, leaves[root])
	}
	if len(top.chain) == 0 && len(h.targets) > 0 {
		h.targets[0].original = true // nothing but sub-agents stand in the file
	}
	h.leave(h.t.circles())
	return top
}

// add adds a session of the file, and forks of what stands beside its line.
func (h *history) add(tg target, leaves []int32) {
	h.targets = append(h.targets, tg)
	if tg.here != nil { // what was exported is in the session, or was taken out of it
		for _, m := range h.t.marks {
			h.t.cover([]int32{m.at}, nil)
		}
	}
	found, others, unplaced := h.t.branches(tg.chain, leaves, h.layout.lastPart())
	h.report.Branches += others
	h.leave(unplaced)
	for _, b := range found {
		key := h.id + "/branch/" + h.recordID(b.prompt)
		chain := h.t.back(b.leaf, h.t.scope)
		h.targets = append(h.targets, target{
			history: h, kind: Branch, id: uuid5(h.tool, key), chain: chain, parent: tg.id, turn: h.sharedTurns(chain, b.prompt),
		})
	}
}

// leave reports prompts that are in no session.
func (h *history) leave(unplaced []unplaced) {
	for _, u := range unplaced {
		if len(h.report.Unplaced) < maxUnplaced {
			h.report.Unplaced = append(h.report.Unplaced, h.told(int(h.t.line(u.at))+1, u.why))
		}
	}
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
func importAgent(ctx context.Context, ld *lander, top target, of History, path string, sessions map[string]string) error {
	h, leave, err := open(ctx, of.source(path), top.tool, "", top.report)
	if err != nil {
		return err
	}
	defer leave()
	of.tellBroken(path, top.report)
	prepare := func(f *history) (tg target, err error) {
		f.t.title = firstOf(of.files[path].title, f.t.title)
		tg, ld, err = ld.prepareAgent(ctx, top, f, path, sessions)
		return tg, err
	}
	tg, err := prepare(h)
	if err != nil {
		return err
	}
	if top.tool == Claude && (repeatsConversation(path) || top.t.has(h.t)) && len(tg.chain) == 0 {
		top.report.Left[whyCopy] += h.t.linesRead
		return nil
	}
	if err := top.report.countFile(tg, h.beside(tg), path); err != nil {
		return err
	}
	if len(tg.chain) == 0 {
		top.report.Left[whyAgent] += h.t.linesRead
		return nil
	}
	all, leaveKept, err := ld.settle(ctx, tg, prepare)
	if err != nil {
		return err
	}
	defer leaveKept()
	sessions[tg.foreign] = tg.id
	return top.report.landAll(ctx, ld, all)
}

// prepareAgent finds the sub-session that a file of a sub-agent makes, and what makes it.
// One that repeats the conversation of its session makes none, but for a question beside
// it and the answer.
func (ld *lander) prepareAgent(ctx context.Context, top target, h *history, path string, sessions map[string]string) (tg target, of *lander, err error) {
	id, name, task := h.format.agent(path, h.t)
	h.id = id
	if h.t.thread.id == "" { // ids of the tool's sub-agents are unique within a session only
		h.id = top.history.id + "/" + id
	}
	h.t.setScope(top.t.scope)
	repeats := top.tool == Claude && (repeatsConversation(path) || top.t.has(h.t))
	if repeats {
		if !isSideQuestion(path) {
			return target{history: h}, ld, nil
		}
		name = sideQuestion
	}
	tg = target{history: h, kind: Agent, id: subID(h.tool, h.id, name), parent: firstOf(sessions[h.t.thread.spawner], top.id), agent: name, foreign: id, original: true, mine: all}
	if ld, err = ld.of(tg.id); err != nil {
		return tg, ld, err
	}
	if repeats {
		if err := ld.dropRepeated(ctx, h, top, tg.id); err != nil {
			return target{}, ld, err
		}
		tg.mine = func(at int32) bool { return !h.t.records.at(at).is(isRepeated) }
	}
	if tg = h.sessions(tg, nil); len(tg.chain) > 0 {
		tg.task = firstOf(task, top.t.facts.summaries[h.t.records.at(tg.chain[0]).key])
		h.targets[0] = tg
	}
	return tg, ld, ld.keep(h, tg)
}

// dropRepeated marks the records of a question beside the conversation that are not its
// own: those that stand in the conversation, or that an earlier import found there.
func (ld *lander) dropRepeated(ctx context.Context, h *history, top target, id string) error {
	found := func(uint64) bool { return false }
	if ld.has(id) {
		lines, err := mappedLines(filepath.Join(ld.kept(id, folder), mapFile))
		if err != nil {
			return err
		}
		k, leave, err := openKept(ctx, ld.kept(id, folder), h.tool, h.id)
		switch {
		case err == nil:
			defer leave()
		case ctx.Err() != nil:
			return err
		}
		if err == nil && len(lines) > 0 { // what cannot be read tells of none
			own := k.t.recordAt(lines[0].line)
			found = func(uuid uint64) bool { at := k.t.find(uuid); return at >= 0 && at < own }
		}
	}
	for _, r := range h.t.records.all() {
		if r.uuid != 0 && (top.t.find(r.uuid) >= 0 || found(r.uuid)) {
			r.flags |= isRepeated
		}
	}
	return nil
}
