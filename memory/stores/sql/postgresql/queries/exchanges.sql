-- exchange_write: append an exchange, once
INSERT INTO exchanges (
    id, session, kind, at, dialect, model, status, base, kept, depth, tail, fresh, reply, complete, stop, usage, shown,
    tools
) VALUES (
    :id, :session, :kind, :at, :dialect, :model, :status, :base, :kept, :depth, :tail, :fresh, :reply, :complete,
    :stop, :usage, :shown, :tools
)
ON CONFLICT (id) DO NOTHING
RETURNING number;

-- forget_sheds: the receipts of a session that tell what was shed
SELECT receipts.number, receipts.body FROM receipts JOIN exchanges ON exchanges.number = receipts.exchange
WHERE exchanges.session = ? AND receipts.body::json ->> 'shed' IS NOT NULL;
