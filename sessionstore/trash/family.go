package trash

import (
	"context"
	"regexp"
	"slices"

	"github.com/amplifier-go/sessionstorage/sessionstore"
)

// family has the children of each session. Sessions are named by their
// directories.
type family map[string][]string

// descendants returns ids and all sessions that descend from them, each once.
func (f family) descendants(ids []string) []string {
	var all []string
	seen := map[string]bool{}
	for queue := slices.Clone(ids); len(queue) > 0; queue = queue[1:] {
		if !seen[queue[0]] {
			seen[queue[0]] = true
			all = append(all, queue[0])
			queue = append(queue, f[queue[0]]...)
		}
	}
	return all
}

// decide divides sessions into those that go and those that stay. A session
// that stays keeps its ancestors.
func decide(sessions []Session, children family, allow []Kind) (remove, keep []Session) {
	gone := map[string]bool{}
	for _, s := range sessions {
		gone[s.ID] = !s.kept(allow)
	}
	parents := slices.Contains(allow, Parent)
	for changed := true; changed && !parents; {
		changed = false
		for _, s := range sessions {
			if gone[s.ID] && slices.ContainsFunc(children[s.ID], func(c string) bool { return !gone[c] }) {
				gone[s.ID], changed = false, true
			}
		}
	}
	for _, s := range sessions {
		left := slices.DeleteFunc(slices.Clone(children[s.ID]), func(c string) bool { return gone[c] })
		if len(left) > 0 {
			s.Obstacles = append(slices.Clone(s.Obstacles), Obstacle{Parent, leftAlone(left)})
		}
		if gone[s.ID] {
			remove = append(remove, s)
		} else {
			keep = append(keep, s)
		}
	}
	return remove, keep
}

func leftAlone(children []string) string {
	if len(children) == 1 {
		return "session " + children[0] + " descends from it and would stay"
	}
	return "session " + children[0] + " and others descend from it and would stay"
}

// olderSub matches an older id of a sub-session: it begins with the id of the
// parent.
var olderSub = regexp.MustCompile(`^(.+)-[0-9a-f]{16}_`)

// relations finds the children of each session. For a session whose metadata cannot be
// read, only its id names the parent.
func relations(ctx context.Context, st *sessionstore.Store) (family, error) {
	infos, err := st.List(ctx, &sessionstore.ListOptions{All: true})
	if err != nil {
		return nil, err
	}
	named, parents := map[string][]string{}, map[string][]string{} // directories by session_id; ids of the parents by directory
	for _, info := range infos {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		named[info.ID] = append(named[info.ID], info.ID)
		md, err := st.Metadata(ctx, info.ID)
		if err == nil {
			if id := md.Text("session_id"); id != info.ID {
				named[id] = append(named[id], info.ID)
			}
			if parent := md.Text("parent_id"); parent != "" {
				parents[info.ID] = append(parents[info.ID], parent)
			}
		}
		if m := olderSub.FindStringSubmatch(info.ID); m != nil && len(parents[info.ID]) == 0 {
			parents[info.ID] = append(parents[info.ID], m[1])
		}
	}
	children := family{}
	for _, info := range infos {
		for _, name := range parents[info.ID] {
			for _, dir := range named[name] {
				if dir != info.ID {
					children[dir] = append(children[dir], info.ID)
				}
			}
		}
	}
	return children, nil
}
