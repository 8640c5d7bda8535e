package syncer

import (
	"context"
	"errors"

	"github.com/amplifier-go/sessionstorage/hybrid/internal/gc"
	"github.com/amplifier-go/sessionstorage/hybrid/internal/privacy"
)

// examine enters a session that the cloud has, scans it and reads its head.
func (e *Syncer) examine(ctx context.Context, id string) (*work, func(), error) {
	leave, err := e.Enter(ctx, id)
	if err != nil {
		return nil, nil, err
	}
	v := e.work(id, Options{Mode: Asked, Named: true})
	v.verdict = e.Privacy.Judge(ctx, id)
	err = v.local.scan(ctx)
	if err == nil {
		err = v.readHead(ctx)
	}
	if err == nil && v.cloud.head == nil {
		err = gc.ErrAbsent
	}
	if err != nil {
		leave()
		return nil, nil, err
	}
	return v, leave, nil
}

// mayStore returns why the session must not be changed in the cloud, by the rules of the
// directory and those of its lines there.
func (v *work) mayStore(ctx context.Context) (err error) {
	if v.verdict, err = v.cloud.permit(ctx); err != nil {
		return err
	}
	if v.verdict.Kept {
		return privacy.ErrLocal
	}
	return errors.Join(v.Privacy.RedactionHolds(), v.cloud.rulesHold())
}
