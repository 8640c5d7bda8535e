package checkpoint

import (
	"math/rand/v2"
	"slices"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/internal/test/testenv"
	"github.com/amplifier-go/sessionstorage/sessionstore"
)

// model is what a session should be after checkpoints and rollbacks.
type model struct {
	status  Status
	current int
	done    []int
	review  string // output of phase 3
	gates   map[int]bool
}

func (m *model) checkpoint(phase int, review string) {
	m.current = min(phase+1, lastPhase)
	if !slices.Contains(m.done, phase) {
		m.done = append(m.done, phase)
	}
	if phase == 3 {
		m.review = review
	}
	if phase == lastPhase {
		m.status = Completed
	} else if m.status == Initialized {
		m.status = InProgress
	}
}

func (m *model) rollback(phase int) {
	m.current = phase
	m.done = slices.DeleteFunc(m.done, func(p int) bool { return p >= phase })
	if phase <= 3 {
		m.review = ""
	}
	for gate := range m.gates {
		if gate >= phase {
			delete(m.gates, gate)
		}
	}
	if m.status == Completed {
		m.status = InProgress
	}
}

func TestCheckpointAndRollbackAgainstAModel(t *testing.T) {
	t.Parallel()
	base := testenv.Seed(t)
	for seed := base; seed < base+4; seed++ {
		rnd := rand.New(rand.NewPCG(seed, 1))
		st := New(&Options{Durability: sessionstore.Relaxed, TempDir: t.TempDir()})
		s, err := st.Create(t.Context(), t.TempDir(), Setup{})
		require.NoError(t, err)
		m := model{status: Initialized, gates: map[int]bool{}}
		for step := range 60 {
			phase := rnd.IntN(lastPhase + 1)
			switch rnd.IntN(4) {
			case 0:
				err = s.Rollback(t.Context(), phase)
				m.rollback(phase)
			case 1:
				if slices.Contains(gates(), phase) {
					err = s.Approve(t.Context(), phase, Approval{Approved: true})
				} else {
					foreign(t, s, "user_approvals", approvalName(phase), "{}")
				}
				m.gates[phase] = true
			default:
				outputs := map[string]any{}
				review := strconv.Itoa(step)
				if phase == 3 {
					outputs["structure_review"] = review
				}
				err = s.Checkpoint(t.Context(), phase, outputs)
				m.checkpoint(phase, review)
			}
			require.NoError(t, err)
			if rnd.IntN(3) == 0 {
				s, err = st.Open(s.Dir())
				require.NoError(t, err)
			}
			state := s.State()
			require.Equal(t, m.status, state.Status(), "seed %d step %d", seed, step)
			require.Equal(t, m.current, state.CurrentPhase(), "seed %d step %d", seed, step)
			require.ElementsMatch(t, m.done, state.CompletedPhases(), "seed %d step %d", seed, step)
			require.Equal(t, m.review, state.Outputs(3)[0].Path, "seed %d step %d", seed, step)
			for phase := range lastPhase + 1 {
				got := len(memberOr(memberOr(state.raw, "user_approvals", "{}"), "phase_"+strconv.Itoa(phase), "")) > 0
				require.Equal(t, m.gates[phase], got, "seed %d step %d gate %d", seed, step, phase)
			}
		}
	}
}
