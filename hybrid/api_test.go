package hybrid_test

import (
	"context"
	"encoding"
	"log/slog"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"

	"github.com/amplifier-go/sessionstorage/hybrid"
	"github.com/amplifier-go/sessionstorage/hybrid/cosmos"
	"github.com/amplifier-go/sessionstorage/sessionstore"
	"github.com/amplifier-go/sessionstorage/sessionstore/workflow"
)

// The shape that programs compile against.
var (
	_ func(context.Context, string, *hybrid.Options, ...workflow.Manifest) (*hybrid.Store, error)                   = hybrid.Open
	_ func(context.Context, cosmos.Config, azcore.TokenCredential, *azcosmos.ClientOptions) (*cosmos.Remote, error) = cosmos.Connect
	_ func() (cosmos.Config, bool)                                                                                  = cosmos.ConfigFromEnv
	_ func(context.Context, *azcosmos.Client, string, string) error                                                 = cosmos.Provision
	_ func() hybrid.Redactor                                                                                        = hybrid.Secrets
	_                                                                                                               = hybrid.Options{
		Store: &sessionstore.Options{}, Remote: (*cosmos.Remote)(nil), Project: "", User: "", Device: "",
		Private: []string{}, Redact: hybrid.Redactor(nil), Limits: &hybrid.Limits{RequestUnitsPerSecond: 1.0, FirstAnswer: time.Duration(0)}, Manual: false,
		Background: hybrid.Background{Interval: time.Duration(0), Watch: false, KnownOnly: false, CloseWait: time.Duration(0)}, Conflict: hybrid.KeepBoth, Logger: (*slog.Logger)(nil), OnStatus: func(hybrid.Status) {},
	}
	_ = []hybrid.Policy{hybrid.KeepBoth, hybrid.Ours, hybrid.Theirs}
	_ = hybrid.Store{Store: (*sessionstore.Store)(nil), Workflow: (*workflow.Workflow)(nil)}
	_ = cosmos.Config{Endpoint: "", Database: "", Container: "", Key: ""}
	_ = hybrid.SyncResult{
		Sessions: 0, Pushed: 0, Segments: 0, Requests: 0, Bytes: int64(0), RequestUnits: float64(0), Conflicts: []hybrid.Conflict{},
	}
	_ = hybrid.PullResult{Sessions: 0, Pulled: 0, Conflicts: []hybrid.Conflict{{SessionID: "", KeptAs: ""}}}
	_ = hybrid.Status{SessionID: "", State: hybrid.Pending, Last: hybrid.Nothing, LastAt: time.Time{}, Local: 0, Remote: 0, NextTry: time.Time{}, Err: error(nil)}
	_ = []encoding.TextMarshaler{hybrid.Pending, hybrid.Nothing}
	_ = hybrid.PruneOptions{Grace: time.Duration(0), HistoryRetention: time.Duration(0), Plan: false, All: false}
	_ = hybrid.PruneResult{Sessions: 0, Merged: 0, Segments: 0, Expired: 0, Removed: 0, Waiting: 0, Requests: 0, RequestUnits: 0.0}
	_ interface {
		Sync(context.Context, ...string) (hybrid.SyncResult, error)
		Pull(context.Context, ...string) (hybrid.PullResult, error)
		KeepLocal(context.Context, string) error
		Hide(context.Context, string) error
		Unhide(context.Context, string) error
		Release(context.Context, string) error
		Histories(context.Context, string) ([]hybrid.History, error)
		Restore(context.Context, string, hybrid.History) error
		Status(context.Context, ...string) ([]hybrid.Status, error)
		Check(context.Context, string, *hybrid.CheckOptions) (hybrid.Report, error)
		Remote(context.Context) ([]hybrid.RemoteSession, error)
		Remove(context.Context, ...string) error
		Recreate(context.Context, ...string) error
		Prune(context.Context, *hybrid.PruneOptions, ...string) (hybrid.PruneResult, error)
		Shutdown(context.Context) error
		Close() error
	} = (*hybrid.Store)(nil)
)
