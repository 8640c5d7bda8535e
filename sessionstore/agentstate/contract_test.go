package agentstate

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/sessionstore"
	"github.com/amplifier-go/sessionstorage/slice"
)

// TestContract runs, by line of the contract, the tests that hold it. The
// validation rules have the names of the original.
func TestContract(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]func(*testing.T){
		"validation/History items must be valid ResponseItem objects":                           TestValidationRules,
		"validation/Token counts must be non-negative":                                          TestValidationRules,
		"validation/Approved commands must be non-empty strings":                                TestValidationRules,
		"validation/executionState must be valid ExecutionState enum value":                     TestEveryTransition,
		"validation/currentTurn exists only when executionState is 'processing' or 'executing'": TestEveryTransition,
		"validation/pendingApprovals removed when approved or rejected":                         TestTurnIsSuspendedWhileWaiting,
		"state/history is append-only, items are raw, a copy is returned":                       TestHistoryKeepsItemsAsTheyAre,
		"state/stored when it returns: commands, tokens, rate limits":                           TestOperationsAreStored,
		"state/atomic with backup":                                                              TestDamagedStateComesFromTheBackup,
		"state/unknown versions":                                                                TestFutureVersionsAreLeftAlone,
		"state/values of the caller's":                                                          TestValuesAreKeptAsTheyAre,
		"state/a fork copies none of it":                                                        testFork,
		"export/shape":                                                                          TestExport,
		"import/every shape":                                                                    TestImportTakesEveryShape,
		"import/refused as a whole":                                                             TestImportRefuses,
		"runtime/never in an export, fresh after resuming":                                      TestResumingForgetsTheRuntime,
		"runtime/transitions":                                                                   TestEveryTransition,
		"runtime/turns, waiting suspends them":                                                  TestTurnIsSuspendedWhileWaiting,
		"runtime/tool use, last 100 errors":                                                     TestCountsAndErrors,
		"approvals/bound to the exact call":                                                     TestKeptApprovalIsBoundToItsCall,
		"approvals/run at most once":                                                            TestClaimIsGivenOnce,
		"concurrency/many goroutines":                                                           TestManyWritersLoseNothing,
	} {
		t.Run(name, test)
	}
}

// testFork forks a session that has all files of this package.
func testFork(t *testing.T) {
	t.Parallel()
	st := newStore(t, nil)
	m, err := sessionstore.NewMessage(map[string]string{"role": "user", "content": "hi"})
	require.NoError(t, err)
	require.NoError(t, st.Append(t.Context(), id, m))
	s, err := Open(st, id, nil)
	require.NoError(t, err)
	require.NoError(t, s.RecordItems(t.Context(), items(`{"type": "a"}`)...))
	require.NoError(t, s.KeepPending(t.Context(), "1", oneCall))
	forked, err := slice.Fork(t.Context(), st, id, nil)
	require.NoError(t, err)
	for _, name := range []string{historyFile, stateFile, pendingFile} {
		require.FileExists(t, filepath.Join(st.Dir(), id, name))
		_, err := os.Stat(filepath.Join(st.Dir(), forked.ID, name))
		require.ErrorIs(t, err, os.ErrNotExist)
	}
}
