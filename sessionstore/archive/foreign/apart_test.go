package foreign

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/hybrid"
	"github.com/amplifier-go/sessionstorage/hybrid/dir"
	"github.com/amplifier-go/sessionstorage/internal/test/testenv"
	"github.com/amplifier-go/sessionstorage/sessionstore"
	"github.com/amplifier-go/sessionstorage/sessionstore/trash"
)

// threeFiles are the files of a thread, the later ones of which go on from the one before.
func threeFiles() (all [3]string) {
	all[0] = codexLines(0, "", "a", "b")
	all[1] = codexLines(5, base(threadID, 5, len(all[0])), "c")
	all[2] = codexLines(8, base(segmentID(1), 8, len(all[1])), "secret")
	return all
}

// synced is a sessions directory with a remote.
type synced struct {
	t *testing.T

	path string
	opts hybrid.Options
}

func newSynced(t *testing.T, path string, private ...string) *synced {
	far := filepath.Join(t.TempDir(), "far")
	require.NoError(t, dir.Provision(t.Context(), far))
	r, err := dir.Open(t.Context(), far)
	require.NoError(t, err)
	return &synced{t, path, hybrid.Options{Remote: r, Project: "demo", User: "ada", Device: "a", Manual: true, Private: private}}
}

// do runs fn with the store.
func (s *synced) do(fn func(*hybrid.Store)) {
	s.t.Helper()
	st, err := hybrid.Open(s.t.Context(), s.path, &s.opts)
	require.NoError(s.t, err)
	fn(st)
	require.NoError(s.t, st.Close())
}

// leaks syncs, and returns the sessions that say the secret and leave.
func (s *synced) leaks() (ids []string) {
	s.t.Helper()
	s.do(func(st *hybrid.Store) {
		_, err := st.Sync(s.t.Context())
		require.NoError(s.t, err)
		all, err := st.Status(s.t.Context())
		require.NoError(s.t, err)
		for _, one := range all {
			if one.State != hybrid.Local && strings.Contains(strings.Join(texts(s.t, st.Store, one.SessionID), " "), "secret") {
				ids = append(ids, one.SessionID)
			}
		}
	})
	return ids
}

func name(t *testing.T, st *sessionstore.Store, id, name string) {
	t.Helper()
	_, _, err := st.SetName(t.Context(), id, sessionstore.Naming{Name: name, Source: "manual"})
	require.NoError(t, err)
}

// TestKeptPartStandsAlone has a part of a thread that stood alone, and that a rule keeps on this
// machine: its words come into no session that leaves, whichever file comes first.
func TestKeptPartStandsAlone(t *testing.T) {
	t.Parallel()
	id, alone := idOf(Codex, threadID), idOf(Codex, segmentID(2))
	for _, rule := range []string{"id", "name", "trash"} {
		for _, first := range []string{"part", "thread", "both"} {
			t.Run(rule+"/"+first, func(t *testing.T) {
				t.Parallel()
				h, files := newCodexHome(t), threeFiles()
				if first == "both" {
					h.put(0, files[0])
				}
				h.put(2, files[2])
				h.run()
				st, err := h.p.Store("-w")
				require.NoError(t, err)
				var globs []string
				if rule == "name" {
					globs = []string{"tax *"}
					name(t, st, alone, "tax 2026")
				}
				s := newSynced(t, st.Dir(), globs...)
				s.do(func(st *hybrid.Store) {
					if rule != "name" {
						require.NoError(t, st.KeepLocal(t.Context(), alone))
					}
				})
				require.Empty(t, s.leaks())
				if rule == "trash" {
					_, err := trash.Delete(t.Context(), st, []string{alone}, &trash.Options{Quiet: -1})
					require.NoError(t, err)
				}
				if first == "thread" {
					h.put(0, files[0])
					h.run()
				}
				h.put(0, files[0])
				h.put(1, files[1])
				for range 2 {
					said, why := h.run()
					require.Empty(t, why)
					require.Equal(t, map[string]string{id: "a asked a b asked b c asked c"}, said)
					require.Equal(t, rule != "trash" || first == "thread", st.Exists(alone)) // an import before the last file came brings it back
					require.Empty(testenv.Lost(t), s.leaks(), "the words of a session that a rule keeps left")
				}
				all, err := Find(t.Context(), Codex, &FindOptions{Home: h.dir})
				require.NoError(t, err)
				report, err := Import(t.Context(), h.p, all[0], nil)
				require.NoError(t, err)
				require.Equal(t, []string{alone}, report.StandAlone)
				if rule != "id" {
					return
				}
				s.do(func(st *hybrid.Store) { require.NoError(t, st.Release(t.Context(), alone)) })
				said, _ := h.run()
				require.Equal(t, map[string]string{id: "a asked a b asked b c asked c secret asked secret"}, said)
				require.False(t, st.Exists(alone))
			})
		}
	}
}

// TestKeptThreadTakesItsParts has a thread that a rule keeps: a part that is kept as its child is
// taken up, since the words stay.
func TestKeptThreadTakesItsParts(t *testing.T) {
	t.Parallel()
	h, files := newCodexHome(t), threeFiles()
	id, alone := idOf(Codex, threadID), idOf(Codex, segmentID(2))
	h.put(0, files[0])
	h.put(2, files[2])
	h.run()
	st, err := h.p.Store("-w")
	require.NoError(t, err)
	s := newSynced(t, st.Dir())
	s.do(func(st *hybrid.Store) { require.NoError(t, st.KeepLocal(t.Context(), id)) })
	h.put(1, files[1])
	said, _ := h.run()
	require.Equal(t, map[string]string{id: "a asked a b asked b c asked c secret asked secret"}, said)
	require.False(t, st.Exists(alone))
	require.Empty(testenv.Lost(t), s.leaks())
}

// TestChangedPartStandsAlone has a part of a thread that stood alone, and that somebody changed:
// it stays, whatever the change was.
func TestChangedPartStandsAlone(t *testing.T) {
	t.Parallel()
	alone := idOf(Codex, segmentID(2))
	put := func(name string) func(*testing.T, *sessionstore.Store) {
		return func(t *testing.T, st *sessionstore.Store) {
			path := filepath.Join(st.Dir(), alone, name)
			require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o700))
			require.NoError(t, os.WriteFile(path, []byte(`{"plan": "mine"}`+"\n"), 0o600))
		}
	}
	for of, change := range map[string]func(*testing.T, *sessionstore.Store){
		"name": func(t *testing.T, st *sessionstore.Store) { name(t, st, alone, "my name") },
		"metadata": func(t *testing.T, st *sessionstore.Store) {
			_, err := st.UpdateMetadata(t.Context(), alone, func(md *sessionstore.Metadata) error { return md.Set("tags", []string{"mine"}) })
			require.NoError(t, err)
		},
		"state":      put("state.json"),
		"approvals":  put("pending_approvals.json"),
		"config":     put("config.md"),
		"events":     put("events.jsonl"),
		"kept copy":  put("transcript.jsonl.bak-damaged1"),
		"own file":   put("import/note.txt"),
		"own folder": put("plans/one.md"),
		"nothing":    func(*testing.T, *sessionstore.Store) {},
	} {
		t.Run(of, func(t *testing.T) {
			t.Parallel()
			h, files := newCodexHome(t), threeFiles()
			h.put(0, files[0])
			h.put(2, files[2])
			h.run()
			st, err := h.p.Store("-w")
			require.NoError(t, err)
			change(t, st)
			h.put(1, files[1])
			all, err := Find(t.Context(), Codex, &FindOptions{Home: h.dir})
			require.NoError(t, err)
			report, err := Import(t.Context(), h.p, all[0], nil)
			require.NoError(t, err)
			require.Equal(t, of != "nothing", st.Exists(alone))
			if of == "nothing" {
				require.Equal(t, []string{alone}, report.TakenUp)
				return
			}
			require.Equal(t, []string{alone}, report.StandAlone)
			bin, err := trash.List(t.Context(), st)
			require.NoError(t, err)
			require.Empty(testenv.Lost(t), bin)
		})
	}
}

// TestForkOfAKeptPart has a thread that the tool forked in a part of another one which stands
// alone, and which a rule keeps: the fork stays here, or has none of its words.
func TestForkOfAKeptPart(t *testing.T) {
	t.Parallel()
	for _, names := range []string{"", `,"forked_from_id":"` + threadID + `"`} {
		h, files := newCodexHome(t), threeFiles()
		id, fork, alone := idOf(Codex, threadID), idOf(Codex, segmentID(9)), idOf(Codex, segmentID(2))
		h.put(0, files[0])
		h.put(2, files[2])
		h.run()
		st, err := h.p.Store("-w")
		require.NoError(t, err)
		s := newSynced(t, st.Dir())
		s.do(func(st *hybrid.Store) { require.NoError(t, st.KeepLocal(t.Context(), alone)) })
		own := strings.Replace(codexLines(11, base(segmentID(2), 11, len(files[2]))+names, "x"), `"id":"`+threadID, `"id":"`+segmentID(9), 1)
		path := filepath.Join(h.dir, "sessions", "rollout-2026-09-09T11-00-00-"+segmentID(9)+".jsonl")
		require.NoError(t, os.WriteFile(path, []byte(own), 0o600))
		for n := range 3 {
			if n == 2 {
				h.put(1, files[1])
			}
			said, _ := h.run()
			require.Contains(t, said[fork], "x asked x")
			require.Equal(t, names == "", strings.Contains(said[fork], "secret"), said[fork])
			require.NotContains(t, said[id], "secret")
			require.Empty(testenv.Lost(t), s.leaks())
		}
	}
}

// TestKeptSessionComesHome has a session that a rule keeps and that goes on in a tool: what
// comes back stays here, in the session, in one beside it, in a new one once the session
// is gone, and in another project.
func TestKeptSessionComesHome(t *testing.T) {
	t.Parallel()
	for _, rule := range []string{"id", "name", "all"} {
		for _, went := range []string{"home", "apart", "trash", "project"} {
			t.Run(rule+"/"+went, func(t *testing.T) {
				t.Parallel()
				eachTool(t, func(t *testing.T, a *away) {
					var globs []string
					if rule == "name" {
						globs = []string{"Min*"}
					}
					if rule == "all" {
						globs = []string{"*"}
					}
					s := newSynced(t, a.st.Dir(), globs...)
					s.do(func(st *hybrid.Store) {
						if rule == "id" {
							require.NoError(t, st.KeepLocal(t.Context(), a.id))
						}
					})
					require.Empty(t, s.leaks())
					a.say("A secret")
					a.export()
					switch went {
					case "apart":
						a.say("Ours")
					case "trash":
						_, err := trash.Delete(t.Context(), a.st, []string{a.id}, &trash.Options{Quiet: -1})
						require.NoError(t, err)
					}
					o := &Options{}
					if went == "project" {
						other, err := a.p.Store("-other")
						require.NoError(t, err)
						s, o.Project = newSynced(t, other.Dir()), "-other"
					}
					for _, text := range []string{"Theirs", "More"} {
						a.goOn(text)
						require.NotEmpty(t, a.run(o))
						require.Empty(testenv.Lost(t), s.leaks())
					}
					require.Len(t, a.all(), map[string]int{"home": 1, "apart": 2, "trash": 1, "project": 1}[went])
				})
			})
		}
	}
}

// TestKeptSessionWentOnApart has an imported session that a rule keeps, and that went on here
// and in the tool: the session of what the tool has stays, too, also once the other one is gone.
func TestKeptSessionWentOnApart(t *testing.T) {
	t.Parallel()
	for _, rule := range []string{"id", "name"} {
		t.Run(rule, func(t *testing.T) {
			t.Parallel()
			g, id := newGrowing(t), idOf(Claude, "g")
			g.write(many("g", 2))
			g.run(nil)
			var globs []string
			if rule == "name" {
				globs = []string{"tax *"}
				name(t, g.st, id, "tax 2026")
			}
			s := newSynced(t, g.st.Dir(), globs...)
			s.do(func(st *hybrid.Store) {
				if rule == "id" {
					require.NoError(t, st.KeepLocal(t.Context(), id))
				}
			})
			local := func() {
				s.do(func(st *hybrid.Store) {
					_, err := st.Sync(t.Context())
					require.NoError(t, err)
					all, err := st.Status(t.Context())
					require.NoError(t, err)
					require.NotEmpty(t, all)
					for _, one := range all {
						require.Equal(testenv.Lost(t), hybrid.Local, one.State, one.SessionID)
					}
				})
			}
			local()
			g.say(id, "ours", "answer")
			g.write(many("g", 3))
			require.Equal(t, Diverged, g.run(nil)[0].Kind)
			local()
			_, err := trash.Delete(t.Context(), g.st, []string{id}, &trash.Options{Quiet: -1})
			require.NoError(t, err)
			local()
			g.write(many("g", 4))
			require.Len(t, g.run(nil), 1)
			local()
		})
	}
}

// TestKeptSessionComesBack has an imported session that a rule kept by the name that somebody gave
// it, and that was removed: the next import makes it anew, with the name of the tool, and it stays.
func TestKeptSessionComesBack(t *testing.T) {
	t.Parallel()
	g, id := newGrowing(t), idOf(Claude, "g")
	g.write(many("g", 2) + `{"type":"custom-title","customTitle":"Theirs","sessionId":"g"}` + "\n")
	g.run(nil)
	name(t, g.st, id, "tax 2026")
	s := newSynced(t, g.st.Dir(), "tax *")
	require.Empty(t, s.leaks())
	_, err := trash.Delete(t.Context(), g.st, []string{id}, &trash.Options{Quiet: -1})
	require.NoError(t, err)
	require.Equal(t, Created, g.run(nil)[0].Action)
	s.do(func(st *hybrid.Store) {
		_, err := st.Sync(t.Context())
		require.NoError(t, err)
		one, err := st.Status(t.Context())
		require.NoError(t, err)
		require.Equal(testenv.Lost(t), hybrid.Local, one[0].State)
	})
}

// TestKeptPartInAnotherProject has a part of a thread in a project that keeps all: the thread
// comes into another project without its words.
func TestKeptPartInAnotherProject(t *testing.T) {
	t.Parallel()
	h, files := newCodexHome(t), threeFiles()
	h.put(2, files[2])
	h.run()
	st, err := h.p.Store("-w")
	require.NoError(t, err)
	require.Empty(t, newSynced(t, st.Dir(), "*").leaks())
	other, err := h.p.Store("-other")
	require.NoError(t, err)
	h.put(0, files[0])
	h.put(1, files[1])
	all, err := Find(t.Context(), Codex, &FindOptions{Home: h.dir})
	require.NoError(t, err)
	report, err := Import(t.Context(), h.p, all[0], &Options{Project: "-other"})
	require.NoError(t, err)
	require.Equal(t, []string{idOf(Codex, segmentID(2))}, report.StandAlone)
	require.Empty(testenv.Lost(t), newSynced(t, other.Dir()).leaks())
	said, _ := h.run()
	require.Equal(t, "a asked a b asked b c asked c", said[idOf(Codex, threadID)]) // which stays in its project
}
