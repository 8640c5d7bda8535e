package foreign

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/amplifier-go/sessionstorage/sessionstore/projects"

	"github.com/amplifier-go/sessionstorage/sessionstore/archive/foreign/internal/thread"
)

// Options control [Import]. A nil *Options is the zero value.
type Options struct {
	// Project is the name of the project that the sessions come into. "" takes
	// [History.Project].
	Project string

	// DryRun writes nothing, and reports the changes that Import would make.
	DryRun bool
}

// Import makes sessions of a history, or brings those up to date that an earlier
// import made; see the package's comment. Each is durable when Import returns, if
// the stores promise that, and those that the report names are there beside an
// error as well.
//
// The file is read up to the size that it has at the beginning, so the tool may go on
// writing. The error Is [ErrEmpty] when there is no conversation in it, [ErrChanged] when
// the part up to that size changed, [ErrTool] for another tool, and [sessionstore.ErrLocked]
// when a host runs the session. Errors have no text of the history.
//
// [sessionstore.ErrLocked]: https://pkg.go.dev/github.com/amplifier-go/sessionstorage/sessionstore#ErrLocked
func Import(ctx context.Context, p *projects.Projects, h History, opts *Options) (*Report, error) {
	o := Options{}
	if opts != nil {
		o = *opts
	}
	n := thread.NewNotes()
	done := &results{
		Report: Report{Shorter: h.found.Shorter, Left: map[string]int{}, Home: map[string]int{}, Blocks: n.Blocks, Unknown: n.Names},
		notes:  n, left: map[string]int{}, blocks: map[string]int{}, written: map[string]bool{}, asked: map[string]bool{},
	}
	tool := programs[string(h.Tool)]
	if tool == nil {
		return &done.Report, fmt.Errorf("import history: %w %q", ErrTool, h.Tool)
	}
	found := h.found
	found.ID, found.Path, found.Dir, found.Folder = h.ID, h.Path, h.Dir, h.Folder
	found.Size, found.Modified, found.Agents, found.Title, found.Parent = h.Size, h.Modified, h.Agents, h.Title, h.Parent
	ld := &lander{p: p, tool: tool, dry: o.DryRun, fixed: o.Project != "", done: done, finds: thread.FindsOf(ctx)}
	var err error
	if len(found.Files[found.Path].Segments) > 1 {
		err = ld.leaveOut(ctx, &found, o.Project)
	}
	if err == nil {
		q, same := ld.ask(h.notes, &found, o), false
		if same, err = q.recall(ctx, done); !same {
			err = ld.run(ctx, found, o)
			done.Lines = n.Lines
			for _, e := range n.Damaged {
				done.Damaged = append(done.Damaged, LineError(e))
			}
			q.note(ctx, ld, err)
			if torn := n.Torn; torn != nil {
				if errors.Is(err, ErrEmpty) {
					err = nil
				}
				err = errors.Join(err, torn)
			}
		}
	}
	if err != nil {
		err = fmt.Errorf("import %s: %w", h.Path, lineErrors{err})
	}
	return &done.Report, err
}

// run brings a history into a project.
func (ld *lander) run(ctx context.Context, h thread.History, o Options) error {
	done, tool := ld.done, ld.tool
	f, leave, err := thread.Open(ctx, h.Source(h.Path), tool, h.ID, done.notes)
	if err != nil {
		return err
	}
	defer leave()
	if f.Table.Exported != "" && h.Parent == "" {
		if err := ld.findHome(ctx, f, h, o.Project); err != nil {
			return err
		}
	}
	if done.Project, err = projectOf(ld.p, h, cmp.Or(ld.home, topOf(f, h.Parent).id), o.Project); err != nil {
		return err
	}
	if o.DryRun {
		ld.st, err = storeThere(ctx, ld.p, done.Project)
	} else {
		ld.st, err = ld.p.Store(done.Project)
	}
	if err != nil {
		return err
	}
	if h.Parent != "" {
		if copied, _ := tool.Repeats(h.Path); copied {
			done.leaveFile(f, thread.WhyCopy)
			return ErrEmpty
		}
	}
	if h.ThreadID != "" && ld.st != nil {
		if known, err := ld.hasThread(ctx, f, h.ThreadID); known || err != nil {
			return err
		}
	}
	ss, err := ld.prepare(ctx, f, h)
	if err != nil {
		return err
	}
	if ld.finds != nil {
		if err := ss.tell(ld.finds, h.Path); err != nil {
			return err
		}
	}
	done.leave(ss)
	f.Table.Calls = nil // they take memory
	top := ss.top
	kept, leaveKept, err := ld.settle(ctx, &ss)
	defer leaveKept()
	if err == nil && kept != nil {
		ss, err = ld.prepare(ctx, kept, h)
	}
	if err != nil {
		return err
	}
	if ld.origin != "" && !ld.has(top.id) && len(top.chain) > 0 && f.Table.IsExport(top.chain) { // a copy under another name
		done.Sessions = append(done.Sessions, Imported{ld.origin, Conversation, Unchanged, 0})
		return nil
	}
	if len(ss.top.chain) > 0 {
		top = ss.top
	}
	failed := ld.landAll(ctx, ss.all)
	if ctx.Err() != nil {
		return failed
	}
	made := map[string]string{h.ID: top.id}
	for _, path := range h.Agents {
		if err := ld.importAgent(ctx, top, h, path, made); err != nil {
			if failed = errors.Join(failed, fmt.Errorf("%s: %w", path, err)); ctx.Err() != nil {
				return failed
			}
		}
	}
	switch {
	case failed != nil:
		return failed
	case len(done.Sessions) == 0:
		return ErrEmpty
	}
	if all := h.Files[h.Path].Segments; len(all) > 1 {
		return ld.takeUp(ctx, f, all)
	}
	return nil
}

// prepare finds the sessions that a file of the history makes.
func (ld *lander) prepare(ctx context.Context, f *thread.File, h thread.History) (ss sessions, err error) {
	if f.Table.Title == "" && h.Title != "" {
		f.Table.Title, f.Table.ByPerson = h.Title, !h.Generated
	}
	f.Table.NameBy(h.Summaries)
	if h.ThreadID != "" {
		f.Table.Lineage.Original = h.ThreadID
	}
	top := topOf(f, h.Parent)
	if ld.home != "" {
		top.id, top.beside = ld.home, ld.place
	}
	scope := thread.WholeLine // unless the first import took only what the tool would resume, as earlier versions could
	if ld.has(top.id) {
		h, err := readHeader(ld.kept(top.id, top.place()))
		if err != nil {
			return ss, err
		}
		scope = h.scope()
	}
	f.Table.SetScope(scope)
	if ld.home != "" {
		top.here, err = findHere(ctx, f, ld.st, ld.home)
		if err = cmp.Or(err, ld.standFor(ctx, top)); err != nil {
			return ss, err
		}
	}
	roots := f.Table.Roots()
	if h.Parent != "" {
		roots = nil
	}
	leaves := f.Table.Leaves(roots)
	top.chain = f.Table.Conversation(leaves[0], f.Table.Scope)
	if ld.home == "" && (h.Origin != nil || ld.origin != "" || top.parent != "") {
		if err := ld.findParent(ctx, &top, h); err != nil {
			return ss, err
		}
	}
	ss = sessionsOf(top, leaves, roots)
	for i := range ss.all {
		tg := &ss.all[i]
		if tg.kind == Branch && !ld.has(tg.id) {
			ld.asBefore(tg)
		}
		if tg.kind == Agent && tg.parent == top.id && len(top.chain) == 0 && !ld.has(top.id) { // the file holds only sub-agents
			tg.parent = ""
		}
	}
	return ss, nil
}

// asBefore gives a fork the id that an earlier version gave it, which took a prompt that the
// thread repeats of its origin for the first one of the fork.
func (ld *lander) asBefore(tg *target) {
	for _, at := range tg.chain {
		if r := tg.file.Table.Records.At(at); r.Is(thread.IsPerson) && !r.Is(thread.IsPrompt|thread.IsQueued) && ld.has(branchID(tg.file, at)) {
			tg.id = branchID(tg.file, at)
		}
	}
}

// branchID returns the id of the fork whose first prompt is a record.
func branchID(f *thread.File, at int32) string {
	return thread.UUID5(f.Tool.Name(), f.ID+"/branch/"+f.RecordID(at))
}

// topOf returns the session of the conversation of a file. It is a sub-session when
// the file says that a sub-agent wrote it.
func topOf(f *thread.File, parent string) target {
	tool := f.Tool.Name()
	tg := target{file: f, kind: Conversation, id: thread.UUID5(tool, f.ID), original: true, mine: func(at int32) bool { return !f.Table.Records.At(at).Is(thread.IsSidechain) }}
	if parent != "" {
		id, name, task := f.Format.Agent(f.Path, f.Table)
		tg.kind, tg.agent, tg.task, tg.foreign, tg.parent, tg.id = Agent, name, task, id, thread.UUID5(tool, parent), thread.SubID(tool, f.ID, name)
		tg.mine = all
		return tg
	}
	switch th := f.Table.Lineage; {
	case th.Spawner != "":
		tg.kind, tg.agent, tg.task, tg.parent = Agent, th.Agent, f.Table.Title, thread.UUID5(tool, th.Spawner)
		tg.id, tg.mine = thread.SubID(tool, f.ID, th.Agent), all
	case th.Original != "" && th.Original != f.ID:
		tg.parent, tg.turn = thread.UUID5(tool, th.Original), th.Shared
	}
	return tg
}

// all accepts all records: the file holds one session alone.
func all(int32) bool { return true }

// sessionsOf finds the sessions that a file makes: the session of top, the sessions of the
// sub-agents that have roots, and the forks of each.
func sessionsOf(top target, leaves map[int32][]int32, roots thread.Roots) sessions {
	f := top.file
	ss := sessions{file: f, top: top}
	if len(top.chain) > 0 {
		ss.add(top, leaves[0])
	}
	delete(leaves, 0)
	ids := map[int32]string{} // of the sub-agents, by their roots
	for _, root := range slices.Sorted(maps.Keys(leaves)) {
		in, known := f.Table.Inside[root-1]
		if !known {
			in = thread.Inside{Parent: -1, Task: f.Table.Facts.Summaries[f.Table.Records.At(root-1).Key]}
		}
		first, name := cmp.Or(in.ID, f.RecordID(root-1)), cmp.Or(in.Name, "agent")
		ids[root] = thread.SubID(f.Tool.Name(), f.ID+"/sidechain/"+first, name)
		ss.add(target{
			file: f, kind: Agent, id: ids[root], chain: f.Table.Back(leaves[root][0], f.Table.Scope), call: in.Call,
			parent: cmp.Or(ids[in.Parent+1], top.id), agent: name, task: in.Task, foreign: first, mine: func(at int32) bool { return roots[at] == root },
		}, leaves[root])
	}
	if len(top.chain) == 0 && len(ss.all) > 0 {
		ss.all[0].original = true // the file holds only sub-agents
	}
	ss.unplaced = append(ss.unplaced, f.Table.Circles()...)
	return ss
}

// add adds a session of the file, and forks of the lines beside its own one.
func (ss *sessions) add(tg target, leaves []int32) {
	f := tg.file
	ss.all = append(ss.all, tg)
	if tg.here != nil { // exported messages are in the session, or were taken out of it
		for _, m := range f.Table.Marks {
			f.Table.Cover([]int32{m.At}, nil)
		}
	}
	if n := len(tg.chain); len(leaves) == 1 && n > 0 && tg.chain[n-1] == leaves[0] { // there is no other line, as almost always
		f.Table.Cover(tg.chain, nil)
		return
	}
	found, others, left := f.Table.Branches(tg.chain, leaves, f.Layout.LastPart())
	ss.others, ss.unplaced = ss.others+others, append(ss.unplaced, left...)
	for _, b := range found {
		chain := f.Table.Back(b.Leaf, f.Table.Scope)
		ss.all = append(ss.all, target{
			file: f, kind: Branch, id: branchID(f, b.Prompt), chain: chain, parent: tg.id,
			turn: f.Table.Prompts(chain[:max(0, slices.Index(chain, b.Prompt))]),
		})
	}
}

// tell hands the session of a file and the sub-agents whose lines are in the same file to
// the program that asked for them; see thread.WithFinds.
func (ss sessions) tell(take func(thread.Found) error, path string) error {
	others, forks := ss.all, map[string]int{}
	if len(ss.top.chain) > 0 {
		others = others[1:]
	}
	for _, tg := range others {
		if tg.kind == Branch {
			forks[tg.parent]++
		}
	}
	for i, tg := range append([]target{ss.top}, others...) {
		if i > 0 && tg.kind != Agent {
			continue
		}
		err := take(thread.Found{
			File: tg.file, Path: path, ID: tg.id, Foreign: tg.foreign, Parent: tg.parent,
			Agent: tg.kind == Agent, Beside: i > 0, Forks: forks[tg.id], Mine: tg.mine,
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// importAgent makes a sub-session of the file of a sub-agent. made has the ids of the
// sessions that were made before, by the tool's ids, and gets this one's.
func (ld *lander) importAgent(ctx context.Context, top target, h thread.History, path string, made map[string]string) error {
	f, leave, err := thread.Open(ctx, h.Source(path), ld.tool, "", ld.done.notes)
	if err != nil {
		return err
	}
	defer leave()
	ss, ld, err := ld.prepareAgent(ctx, top, h, f, path, made)
	if err != nil {
		return err
	}
	ld.done.leave(ss)
	if ld.repeats(top, f, path) && len(ss.top.chain) == 0 {
		ld.done.leaveFile(f, thread.WhyCopy)
		return nil
	}
	if ld.finds != nil {
		if err := ss.tell(ld.finds, path); err != nil {
			return err
		}
	}
	if len(ss.top.chain) == 0 {
		ld.done.leaveFile(f, thread.WhyAgent)
		return nil
	}
	id, foreign := ss.top.id, ss.top.foreign
	kept, leaveKept, err := ld.settle(ctx, &ss)
	defer leaveKept()
	if err == nil && kept != nil {
		ss, ld, err = ld.prepareAgent(ctx, top, h, kept, path, made)
	}
	if err != nil {
		return err
	}
	made[foreign] = id
	return ld.landAll(ctx, ss.all)
}

// repeats reports whether a file of an agent repeats the conversation of its session.
func (ld *lander) repeats(top target, f *thread.File, path string) bool {
	copied, _ := ld.tool.Repeats(path)
	return copied || ld.tool.Program().Linked && top.file.Table.Has(f.Table)
}

// sideQuestion is the name of the sub-session of a question that a person asked beside
// the conversation.
const sideQuestion = "side question"

// prepareAgent finds the sessions that a file of a sub-agent makes, and the lander that
// makes them. A file that repeats the conversation of its session makes none, but for a
// question beside it and the answer.
func (ld *lander) prepareAgent(ctx context.Context, top target, h thread.History, f *thread.File, path string, made map[string]string) (ss sessions, of *lander, err error) {
	f.Table.Title = cmp.Or(h.Files[path].Title, f.Table.Title)
	id, name, task := f.Format.Agent(path, f.Table)
	f.ID = id
	if f.Table.Lineage.ID == "" { // ids of the tool's sub-agents are unique within a session only
		f.ID = top.file.ID + "/" + id
	}
	f.Table.SetScope(top.file.Table.Scope)
	repeats := ld.repeats(top, f, path)
	if repeats {
		if _, question := ld.tool.Repeats(path); !question {
			return sessions{file: f, top: target{file: f}}, ld, nil
		}
		name = sideQuestion
	}
	tg := target{
		file: f, kind: Agent, id: thread.SubID(ld.tool.Name(), f.ID, name), parent: cmp.Or(made[f.Table.Lineage.Spawner], top.id),
		agent: name, foreign: id, original: true, mine: all,
	}
	if ld, err = ld.of(tg.id); err != nil {
		return ss, ld, err
	}
	if repeats {
		if err := ld.dropRepeated(ctx, f, top, tg.id); err != nil {
			return ss, ld, err
		}
		tg.mine = func(at int32) bool { return !f.Table.Records.At(at).Is(thread.IsRepeated) }
	}
	leaves := f.Table.Leaves(nil)
	tg.chain = f.Table.Conversation(leaves[0], f.Table.Scope)
	if len(tg.chain) > 0 {
		tg.task = cmp.Or(task, top.file.Table.Facts.Summaries[f.Table.Records.At(tg.chain[0]).Key])
	}
	return sessionsOf(tg, leaves, nil), ld, nil
}

// dropRepeated marks the records of a question beside the conversation that are not its
// own: records that are in the conversation, or that an earlier import found there.
func (ld *lander) dropRepeated(ctx context.Context, f *thread.File, top target, id string) error {
	found := func(uint64) bool { return false }
	if ld.has(id) {
		lines, err := mappedLines(ctx, ld.kept(id, importFolder))
		if err != nil {
			return err
		}
		k, leave, err := openKept(ctx, ld.kept(id, importFolder), f.Tool, f.ID)
		switch {
		case err == nil:
			defer leave()
		case ctx.Err() != nil:
			return err
		}
		if err == nil && len(lines) > 0 { // a copy that cannot be read has none
			own := k.Table.RecordAt(lines[0].line)
			found = func(uuid uint64) bool { at := k.Table.Find(uuid); return at >= 0 && at < own }
		}
	}
	for _, r := range f.Table.Records.All() {
		if r.UUID != 0 && (top.file.Table.Find(r.UUID) >= 0 || found(r.UUID)) {
			r.Flags |= thread.IsRepeated
		}
	}
	return nil
}
