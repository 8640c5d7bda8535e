package checkpoint

import (
	"maps"
	"slices"
	"testing"

	"github.com/amplifier-go/sessionstorage/internal/test/testenv"
)

// TestContract runs, by line of the contract, the tests that hold it. They run by
// themselves, too, so that some lines are enough without [testenv.Long].
func TestContract(t *testing.T) {
	t.Parallel()
	contract := map[string]func(*testing.T){
		"schema/the original's example loads":                            TestExampleLoads,
		"schema/agrees with the original's":                              TestValidatorAgreesWithTheSchema,
		"schema/versions 1.0, 2.0 and 2.1; a time without zone is local": TestOldVersionsAndLocalTimes,
		"schema/other versions are left alone":                           TestOtherVersionsAreLeftAlone,
		"schema/every violation with its pointer; null counts as absent": TestEveryViolationHasItsPointer,
		"schema/a file after a rollback loads":                           TestLife,
		"schema/unknown members are kept":                                TestExtraMembers,
		"life/create, set status, set context, in progress":              TestLife,
		"life/primary place, else fallback":                              TestCreateFallsBack,
		"life/writes go to the file that was opened":                     TestMovedSession,
		"find/in progress or interrupted, newest first, within 72 h":     TestFindResumable,
		"find/72 hours to the millisecond":                               TestAges,
		"resume/missing outputs":                                         TestResume,
		"resume/output directory, then session directory":                TestResumeLooksInTheSessionDirectoryToo,
		"resume/of other statuses":                                       TestResumeRefuses,
		"resume/outputs that point outside":                              TestOutputsThatPointOutside,
		"checkpoint, rollback/by a model":                                TestCheckpointAndRollbackAgainstAModel,
		"rollback/table of outputs":                                      TestRollbackTable,
		"records/decisions, approvals, errors, agents":                   TestRecords,
		"provenance/six lines":                                           TestProvenance,
		"prompts/resume":                                                 TestPrompt,
		"prompts/clean up":                                               TestPlanPrompt,
		"clean up/completed goes, outputs stay; a plan touches nothing":  TestCleanupDeletesCompletedAndKeepsOutputs,
		"clean up/what cannot be moved is kept and named":                TestCleanupKeepsWhatItCannotMoveOut,
		"clean up/unfinished is archived":                                TestCleanupArchivesUnfinished,
		"clean up/others are left alone":                                 TestCleanupLeavesAlone,
		"locks/two processes":                                            TestTwoProcesses,
		"backup/stands in for a damaged state":                           TestDamagedStateComesFromTheBackup,
		"symlinks/are no sessions":                                       TestSymlinkIsNoSession,
	}
	for _, name := range testenv.Some(t, 3, slices.Sorted(maps.Keys(contract))...) {
		t.Run(name, contract[name])
	}
}
