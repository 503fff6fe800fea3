//! The words for what a tool does, as data: in names, in descriptions, in several languages.
//!
//! A word is sure where it is hardly ever a noun (`delete`), and open where it often is one (`post`, `order`): an open
//! word decides only where no sure one does. Words of languages that put no blanks between words stand in a table of
//! their own and are looked for inside of text.

use std::collections::{HashMap, HashSet};
use std::sync::LazyLock;

/// Words that are looked up.
pub(super) type Set = HashSet<&'static str>;

pub(super) fn set(words: &'static str) -> Set {
    words.split_whitespace().collect()
}

/// Tables of words, each written as one text.
macro_rules! tables {
    ($($(#[$about:meta])* $visible:vis $name:ident = $words:expr;)*) => {
        $($(#[$about])* $visible static $name: std::sync::LazyLock<$crate::risk::verbs::Set> =
            std::sync::LazyLock::new(|| $crate::risk::verbs::set($words));)*
    };
}
pub(super) use tables;

/// What a word says.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Kind {
    /// Looks, and leaves everything as it is.
    Look,
    /// Makes something new, and takes nothing away.
    Add,
    /// Changes something.
    Change,
    /// Acts on a page or a screen: what comes of it is up to what is shown there.
    Touch,
    /// Any of the others: the rest of the definition has to tell.
    Manage,
    /// Makes something run.
    Run,
    /// Takes away.
    Delete,
    /// Ends what runs, or puts it back to another state.
    Stop,
    /// Says something to other people.
    Send,
    /// Spends or moves what is worth money.
    Pay,
    /// Puts something in front of the public or into production.
    Publish,
    /// Gives or takes rights, or makes secrets.
    Grant,
    /// Sends whatever request it is told to.
    Request,
    /// Sends files to another machine.
    Export,
    /// Hands out secrets.
    Reveal,
    /// Decides what may be done later.
    Govern,
    /// Types or presses keys where no page takes them: on a desktop, a device, in an editor.
    Press,
    /// Puts something in the place of what is there.
    Overwrite,
    /// Changes many things at once.
    Bulk,
    /// Nobody knows what: no word of the definition says it.
    Unknown,
}

impl Kind {
    /// Whether a person is asked about it.
    pub(super) const fn is_grave(self) -> bool {
        matches!(
            self,
            Self::Run
                | Self::Delete
                | Self::Stop
                | Self::Send
                | Self::Pay
                | Self::Publish
                | Self::Grant
                | Self::Request
                | Self::Export
                | Self::Reveal
                | Self::Govern
                | Self::Press
                | Self::Overwrite
                | Self::Bulk
                | Self::Unknown
        )
    }

    /// What such a tool does, behind "it".
    pub(super) const fn does(self) -> &'static str {
        match self {
            Self::Look => "reads",
            Self::Add => "adds",
            Self::Change | Self::Manage => "changes",
            Self::Touch => "acts on a page or screen",
            Self::Run => "runs something",
            Self::Delete => "deletes",
            Self::Stop => "stops or resets something",
            Self::Send => "sends to people",
            Self::Pay => "spends or moves money",
            Self::Publish => "publishes or deploys",
            Self::Grant => "gives or takes rights",
            Self::Request => "sends requests that may change something",
            Self::Export => "sends files to another machine",
            Self::Reveal => "hands out secrets",
            Self::Govern => "changes what may be done later",
            Self::Press => "types or presses keys",
            Self::Overwrite => "may overwrite or throw away what is there",
            Self::Bulk => "changes many things at once",
            Self::Unknown => "does something that nothing in its definition tells",
        }
    }
}

/// A word that is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Verb {
    pub(super) kind: Kind,
    /// Whether it is hardly ever a noun.
    pub(super) sure: bool,
}

const SURE: &[(Kind, &str)] = &[
    (
        Kind::Look,
        "get list read search find fetch describe show retrieve lookup query view browse inspect explain count check \
         analyze analyse compare validate verify calculate convert parse resolve detect summarize summarise \
         translate extract scrape crawl discover preview peek poll wait diff ping think lint aggregate scan estimate \
         predict recommend suggest recall look see identify measure enumerate obtain decode encode whoami whois evaluate \
         return provide tell exists traverse compute computes simulate plot visualize visualise observe subtract multiply divide \
         diagnose consult understand prioritize prioritise tokenize transcribe rephrase paraphrase classify normalize standardize rerank interpret infer hgetall hget lrange smembers zrange xrange llen scard \
         holen lesen suchen zeigen auflisten anzeigen abrufen finden pruefen prüfen \
         obtener listar leer buscar mostrar consultar ver contar encontrar verificar \
         obtenir lister lire chercher rechercher afficher trouver consulter récupérer recuperer vérifier \
         ottenere elencare leggere cercare mostrare trovare obter ler pesquisar exibir procurar \
         получить прочитать найти показать искать посмотреть проверить ophalen lezen zoeken tonen pobierz znajdź obtiene busca muestra lee consulta liste cherche affiche lit holt sucht zeigt liest listet mostra legge \
         lista trova getir getirir listele listeler göster gösterir döndür döndürür hesapla hesaplar obtêm obtém retorna exibe",
    ),
    (
        Kind::Add,
        "create add append insert generate compose duplicate attach remember save upload initialize \
         anlegen erstellen hinzufügen hinzufuegen crear agregar añadir anadir créer creer ajouter creare aggiungere \
         criar adicionar oluştur oluşturur ekler создать добавить maken toevoegen crea crée erstellt cria agrega ajoute",
    ),
    (
        Kind::Change,
        "update edit modify change write put replace rename move assign configure adjust apply resize toggle enable \
         upsert overwrite transform unmark unpin unarchive reopen reorder unmerge unstage reconnect connect disconnect \
         login logout expire subscribe unsubscribe reindex untag reschedule unmute approve reject accept decline increment \
         decrement hset sadd zadd xadd lpush rpush lpop rpop \
         ändern aendern schreiben bearbeiten aktualisieren actualizar modificar editar escribir modifier écrire ecrire \
         aggiornare modificare scrivere atualizar escrever обновить изменить записать bijwerken wijzigen actualiza \
         modifica aktualisiert ändert atualiza",
    ),
    (Kind::Touch, "click hover drag tap swipe scroll navigate goto doubleclick dblclick emulate"),
    (Kind::Manage, "manage handle control administer operate perform invoke"),
    (
        Kind::Run,
        "execute exec spawn ausführen ausfuehren ejecutar exécuter executer eseguire executar выполнить запустить \
         uitvoeren ejecuta exécute esegue executa",
    ),
    (
        Kind::Delete,
        "delete remove destroy erase purge wipe truncate unlink uninstall expunge shred del rm rmdir prune discard \
         obliterate deregister unregister nuke factoryreset flushdb flushall hdel xdel zrem srem lrem ltrim cleanup \
         löschen loeschen entfernen vernichten eliminar borrar quitar suprimir supprimer effacer enlever détruire \
         detruire eliminare cancellare rimuovere excluir apagar remover deletar удалить стереть verwijderen wissen usuń \
         usun radera hapus sil siler kaldır kaldırır elimina borra supprime efface löscht entfernt exclui deleta cancella \
         leeren leert vaciar vacía vider svuotare esvaziar",
    ),
    (
        Kind::Stop,
        "kill terminate shutdown reboot restart poweroff halt rollback evict decommission deprovision failover deactivate seal unseal cordon detonate quarantine \
         beenden herunterfahren terminar matar arrêter arreter terminare spegnere остановить завершить beëindigen \
         neustarten stoppen reiniciar detener redémarrer redemarrer zurücksetzen zuruecksetzen restablecer réinitialiser reinitialiser reinicia detiene startet",
    ),
    (
        Kind::Send,
        "send reply broadcast announce tweet retweet repost enroll enrol senden verschicken versenden enviar mandar responder envoyer \
         répondre repondre inviare spedire rispondere отправить послать ответить verzenden versturen wyślij wyslij gönder \
         kirim envia envía manda envoie sendet schickt invia",
    ),
    (
        Kind::Pay,
        "pay purchase buy sell refund payout withdraw donate unstake liquidate bezahlen zahlen kaufen verkaufen \
         überweisen ueberweisen pagar comprar vender transferir payer acheter vendre pagare acquistare vendere оплатить \
         купить продать перевести betalen kopen paga paie bezahlt compra vende überweist transfiere \
         stornieren storniert erstatten erstattet buchen bucht bestellen bestellt reservar réserver reserver ordinare prenotare cancelar annuler kündigen kuendigen",
    ),
    (
        Kind::Publish,
        "publish deploy redeploy promote unpublish veröffentlichen veroeffentlichen publicar desplegar publier \
         déployer deployer pubblicare implantar опубликовать развернуть publiceren publica publie veröffentlicht despliega",
    ),
    (
        Kind::Grant,
        "grant revoke unshare invite authorize impersonate elevate sudo chmod chown unban conceder revocar otorgar \
         compartir accorder révoquer revoquer partager freigeben gewähren gewaehren entziehen concedere revocare \
         condividere предоставить отозвать \
         sperren sperrt entsperren bloquear desbloquear teilen débloquer debloquer",
    ),
];

const OPEN: &[(Kind, &str)] = &[
    (
        Kind::Look,
        "status info information stats statistics history log logs report reports details detail overview summary \
         schema metadata help docs documentation version versions health tree content contents outline usage audit \
         weather forecast autocomplete geocode geocoding directions elevation distance insights trends analytics quote \
         price prices metrics profile profiles output result results tail hello values fields columns tables indexes \
         snapshot echo sum learn guide grep research explore map test monitor hash average round rank score debug trace greet tips \
         calculator thinking thought reasoning reason reflect brainstorm review critique display track disassemble decompile dice \
         simulation benchmark monitoring transpose decompose validation analyzer analysis converter facts fact random news",
    ),
    (
        Kind::Add,
        "favourite favorite unfavourite unfavorite upvote note memo label reaction backup plan new make draft clone copy fork bookmark star follow like comment record \
         store import open init begin capture draw render post export pack package bundle compress zip design gen upscale dub \
         enrich ingest ask answer chat",
    ),
    (
        Kind::Change,
        "set patch sort mark pin archive complete close lock stage checkout commit rebase download install split join \
         combine sync refresh reload index tag schedule snooze mute submit request start launch trigger persist \
         transition reset restore migrate scale upgrade downgrade revert undo redo switch format clear empty cancel stop \
         pause resume suspend disable block unblock merge push pull stash trash drop rotate drain flush \
         train solve crop rotate flip filter link group ungroup align encrypt decrypt authenticate \
         expand extend enhance fix correct refine improve customize color colour highlight end optimize optimise load",
    ),
    (
        Kind::Touch,
        "type press fill select focus keyboard mouse key keys keystroke keystrokes cursor zoom screenshot pinch back forward play \
         take",
    ),
    (Kind::Manage, "manager admin action actions operation operations management api call service process"),
    (Kind::Run, "run eval"),
    (Kind::Send, "email mail message sms dm"),
    (Kind::Pay, "topup order trade transfer charge stake mint burn bid swap delegate undelegate redelegate snipe"),
    (Kind::Publish, "release"),
    (Kind::Grant, "share ban kick"),
];

/// Words of languages without blanks.
const WITHIN: &[(Kind, &str)] = &[
    (Kind::Delete, "删除 移除 清除 销毁 卸载 刪除 移除 削除 消去 삭제 제거 ลบ"),
    (Kind::Send, "发送 發送 发布消息 群发 回复 送信 返信 보내기 보내 전송"),
    (
        Kind::Pay,
        "限价订单 买入 卖出 挂单 取消订单 退订 预订 预约 注文 キャンセル 予約 예약 취소 支付 付款 转账 轉帳 购买 下单 退款 支払 購入 振込 결제 송금 구매",
    ),
    (Kind::Publish, "发布 發布 部署 上线 公開 デプロイ 배포 게시"),
    (Kind::Run, "执行 運行 运行 実行 실행"),
    (Kind::Stop, "重置 初期化 リセット 초기화 终止 停止 关机 重启 強制終了 再起動 종료 중지"),
    (Kind::Grant, "授权 撤销权限 共享 邀请 共有 招待 권한 초대"),
    (Kind::Add, "创建 新建 添加 新增 生成 上传 建立 作成 追加 생성 추가"),
    (Kind::Change, "更新 修改 编辑 設定 设置 写入 保存 変更 編集 書き込 수정 변경"),
    (
        Kind::Look,
        "获取 查询 搜索 列出 查看 读取 检索 查找 取得 检查 分析 计算 返回 转换 规划 定位 识别 测量 展示 推荐 翻译 比较 统计 检验 查詢 搜尋 変換 翻訳 抽出 検証 計算 計測 분석 계산 변환 추출 번역 検索 一覧 取得 表示 確認 조회 검색 목록 확인 가져",
    ),
];

/// Verbs that are grave together with one of the words beside them, and what they do then.
const PAIRED: &[(&str, &str, Kind)] = &[
    (
        "stop restart reset restore disable deactivate suspend scale pause upgrade downgrade detach unassign cordon taint \
         patch rollout rebuild recreate reinstall reimage reprovision recycle reconfigure drain hibernate freeze isolate boot rescue",
        "project projects farm fleet engine broker endpoint endpoints replica replicas shard shards agent agents \
         server servers instance instances vm vms machine machines guest container containers node nodes cluster clusters \
         service services deployment deployments pod pods droplet droplets dyno dynos database db app application system \
         computer host stack environment daemonset statefulset process processes kubectl network firewall protection device \
         workload site website domain dns disk volume vpc gateway tenant resource resources",
        Kind::Stop,
    ),
    (
        "block ban lock disable suspend deactivate kick mute quarantine isolate disconnect",
        "user users account accounts member members client clients employee employees customer customers device devices \
         player players host hosts card cards sim",
        Kind::Grant,
    ),
    (
        "disable remove bypass deactivate",
        "mfa 2fa totp authentication encryption antivirus defender auditing logging",
        Kind::Grant,
    ),
    ("forget expire", "snapshot snapshots backup backups", Kind::Delete),
    (
        "merge",
        "contact contacts company companies customer customers account accounts record records duplicate duplicates user users \
         people person entity entities",
        Kind::Delete,
    ),
    ("archive", "channel channels repo repository account workspace team board database site", Kind::Stop),
    ("mute silence snooze disable", "monitor monitors alert alerts alarm alarms", Kind::Govern),
    ("request order hail", "ride rides taxi cab pickup delivery courier trip trips", Kind::Pay),
    ("resolve close acknowledge ack", "incident incidents", Kind::Govern),
    (
        "trash bin",
        "file files folder folders message messages email emails mail mails thread threads page pages document documents database",
        Kind::Delete,
    ),
    ("follow unfollow befriend", "user users account profile person people company", Kind::Send),
    (
        "start unlock open honk",
        "car vehicle engine trunk frunk motor pump valve heater oven boiler irrigation sprinkler drone robot",
        Kind::Stop,
    ),
    ("arm disarm", "alarm alarms security system panel", Kind::Stop),
    ("takeoff land fly", "drone", Kind::Stop),
    (
        "accept approve settle concede",
        "dispute disputes claim claims chargeback offer offers quote liability loan",
        Kind::Pay,
    ),
    ("fulfill fulfil ship", "order orders", Kind::Pay),
    ("activate enable", "plugin plugins extension extensions addon addons module modules theme", Kind::Run),
    ("save store write set add insert update import create", "vba macro macros vbscript applescript", Kind::Run),
    ("enqueue queue schedule register", "workflow workflows job jobs script scripts cron command commands", Kind::Run),
    (
        "resize",
        "instance instances vm vms cluster clusters droplet droplets disk volume database db warehouse warehouses node nodes server \
         servers pool",
        Kind::Stop,
    ),
    ("power turn switch bring take compose", "off cycle down", Kind::Stop),
    (
        "reset clear empty flush",
        "migrate migration database db table tables collection bucket data history inbox queue all storage folder trash password credentials \
         account settings config configuration memory factory disk repository volume bin recycle keys completed branch factor \
         factors mfa conversation messages stash",
        Kind::Delete,
    ),
    (
        "cancel",
        "subscription subscriptions order orders payment booking bookings reservation reservations membership contract \
         invoice account policy appointment",
        Kind::Pay,
    ),
    (
        "book reserve rent hire",
        "hotel flight room table ticket tickets appointment ride taxi car seat trip restaurant stay service listing property slot \
         desk space",
        Kind::Pay,
    ),
    ("update set change", "price prices bid bids budget budgets", Kind::Pay),
    ("close", "account position positions", Kind::Pay),
    ("clean", "git working workspace directory dir repository files folder database", Kind::Delete),
    ("format", "disk drive partition volume usb sd storage", Kind::Delete),
    (
        "drop",
        "table tables database databases collection collections index indexes schema schemas column columns view keyspace \
         user role constraint partition snapshot fk trigger function sequence policy extension enum stash",
        Kind::Delete,
    ),
    ("merge accept", "pull request pr mr branch branches main master", Kind::Publish),
    ("push", "files file commit commits branch branches git repo repository remote changes code tags", Kind::Publish),
    ("push", "image images package container chart", Kind::Publish),
    ("push", "message messages notification sms text", Kind::Send),
    ("complete finish commit", "migration migrations", Kind::Publish),
    ("upgrade downgrade", "release chart helm", Kind::Publish),
    (
        "apply",
        "run manifest terraform migration migrations kubectl yaml resources resource plan changeset",
        Kind::Publish,
    ),
    (
        "restore import migrate load",
        "backup backups database db snapshot dump guest droplet server website site table",
        Kind::Stop,
    ),
    (
        "create make place submit execute confirm add issue send request capture finalize process initiate",
        "order orders payment payments transaction transactions transfer transfers trade trades charge charges payout \
         payouts refund refunds purchase booking reservation bid donation withdrawal swap checkout fund funds money bet sip investment",
        Kind::Pay,
    ),
    (
        "create add make submit write",
        "post tweet toot broadcast campaign newsletter announcement release deployment",
        Kind::Publish,
    ),
    ("create compose make post add", "message messages sms email mail call tweet comment_reply dm", Kind::Send),
    ("post", "thread reply update status announcement channel slack discord", Kind::Send),
    ("sign broadcast submit", "transaction tx", Kind::Pay),
    (
        "transfer",
        "token tokens bank wire money fund funds coin coins eth btc sol usdc nft crypto balance ownership stock stocks",
        Kind::Pay,
    ),
    ("move wire", "money fund funds cash balance", Kind::Pay),
    ("switch shift route split redirect", "traffic", Kind::Stop),
    ("manage", "security group groups user users access account accounts offboarding", Kind::Grant),
    ("execute call invoke write", "contract contracts", Kind::Pay),
    ("approve", "token tokens spending allowance payment transaction transfer", Kind::Pay),
    (
        "create add set update modify put attach change generate regenerate assign edit rotate manage",
        "permission permissions acl role roles collaborator collaborators access admin owner ownership token tokens secret \
         membership memberships delegation delegations secrets credential credentials password passwords restrictions visibility sharing firewall apikey invitation",
        Kind::Grant,
    ),
    // Who is told from now on of what happens.
    ("create add register set update subscribe enable configure", "webhook webhooks", Kind::Send),
    ("create add edit update set change modify upsert", "dns nameserver nameservers ptr", Kind::Publish),
    ("transfer move", "domain domains account ownership", Kind::Grant),
    ("create generate regenerate rotate add new", "key keys", Kind::Grant),
    ("unprotect protect", "branch branches tag environment", Kind::Grant),
    ("lock unlock open", "door doors gate garage lock safe vault", Kind::Grant),
    (
        "install load",
        "package packages extension extensions plugin plugins chart helm app apk binary dependency software module addon",
        Kind::Run,
    ),
    ("install", "server servers driver drivers firmware update updates", Kind::Run),
    (
        "run start trigger launch invoke call dispatch submit rerun execute exec",
        "workflow workflows pipeline pipelines job jobs playbook automation automations script scripts actor command \
         commands code shell process program lambda function functions container macro notebook cell procedure migration \
         migrations pod pods image vm deployment deployments build release cli rpc exploit exploits payload binary executable \
         programs",
        Kind::Run,
    ),
    ("run execute exec", "module modules project app application game scene action hoc attack target", Kind::Run),
    ("send issue", "command commands", Kind::Run),
    ("eval evaluate", "ruby python js javascript typescript lua perl php code script snippet", Kind::Run),
    ("invoke", "operation operations method methods", Kind::Run),
    ("run execute trigger", "task tasks", Kind::Run),
    ("run execute exec", "sql cypher psql statement statements mutation", Kind::Run),
    ("make dial place start", "phone call calls", Kind::Send),
    ("forward", "email emails mail message messages media call calls", Kind::Send),
];

/// The same where both stand in the name of a tool: in a sentence these objects are often beside the point.
const PAIRED_IN_NAMES: &[(&str, &str, Kind)] = &[
    ("create add generate new", "login user users member members share shared public invite guest", Kind::Grant),
    ("update create put upload deploy edit write", "lambda worker workers apex procedure userscript", Kind::Run),
    ("update create put upload deploy edit write", "script scripts", Kind::Run),
    ("make set", "public published", Kind::Publish),
    ("open close allow deny block unblock add remove", "port ports firewall ingress inbound", Kind::Grant),
    ("overwrite", "database db table tables collection index bucket volume disk", Kind::Delete),
    ("top", "up", Kind::Pay),
    ("renew extend", "domain domains subscription plan license licence certificate", Kind::Pay),
    ("subscribe upgrade", "plan plans tier", Kind::Pay),
    ("start launch activate resume create", "campaign campaigns ad ads adset survey", Kind::Pay),
    ("create new", "run runs build builds execution executions cronjob", Kind::Run),
    ("add remove provide", "liquidity", Kind::Pay),
    ("play", "job jobs pipeline", Kind::Run),
    ("power", "on", Kind::Stop),
    ("open create start add", "tunnel tunnels", Kind::Grant),
    ("trigger", "incident incidents alert alerts webhook response scan sync event", Kind::Run),
    ("upload flash", "sketch firmware binary", Kind::Run),
    ("add enroll", "sequence sequences campaign campaigns", Kind::Send),
    ("create", "shipment shipments postage fulfillment fulfillments fulfilment fulfilments", Kind::Pay),
    ("sync mirror", "folder folders directory directories dir dirs files", Kind::Overwrite),
    ("set enable update turn create configure", "vacation autoreply autoresponder ooo", Kind::Send),
    ("update modify", "query", Kind::Bulk),
    ("enable", "automerge merge", Kind::Publish),
    ("create generate", "invoice invoices", Kind::Pay),
    ("inject", "script javascript js code css html", Kind::Run),
    ("force", "push", Kind::Publish),
    ("post create add start trigger", "dag", Kind::Run),
    ("set update write change edit", "config configuration", Kind::Govern),
    ("sync", "application applications app cluster production", Kind::Publish),
    ("write set force", "coil coils register registers plc", Kind::Stop),
    ("start", "print", Kind::Stop),
    ("set", "leverage margin", Kind::Pay),
    ("leave", "chat group channel guild server organization org team workspace", Kind::Grant),
    ("update change toggle", "flag flags", Kind::Publish),
    ("upload put copy transfer sync", "ssh sftp ftp scp rsync", Kind::Export),
    ("forward", "port ports", Kind::Grant),
    ("run", "instance instances", Kind::Run),
    ("allow deny block unblock permit ban unban", "ip ips address addresses cidr", Kind::Grant),
    ("set enable update turn toggle", "autopay autorenew renewal upgrade recharge", Kind::Pay),
    ("roll", "forward back", Kind::Publish),
    ("attach", "debugger gdb lldb", Kind::Run),
    ("create run new", "container containers", Kind::Run),
    ("update set edit modify change pause", "campaign campaigns ad ads adset adsets", Kind::Pay),
    ("extract unzip unpack decompress untar", "archive archives zip tar tarball", Kind::Overwrite),
    ("function lambda worker", "code", Kind::Run),
    (
        "reveal decrypt export dump",
        "secret secrets password passwords credential credentials key keys vault cookie cookies tokens",
        Kind::Reveal,
    ),
    ("assume", "role identity", Kind::Grant),
    ("enable disable allow open", "public anonymous", Kind::Grant),
    ("expire", "key keys", Kind::Delete),
    ("set add edit update write create install", "crontab cron cronjob autostart startup launchagent", Kind::Run),
    ("call", "number phone person contact", Kind::Send),
    ("notify alert page", "team channel slack people members customers contacts oncall", Kind::Send),
    ("checkout check", "cart basket", Kind::Pay),
    ("detach remove replace", "policy policies role roles permission permissions", Kind::Grant),
    ("update modify set change edit", "security policy policies", Kind::Grant),
    ("change update upgrade flash reinstall", "kernel os firmware bios", Kind::Stop),
    ("create add update set", "subscription subscriptions callback forwarding", Kind::Send),
    // What is paid for by the hour.
    (
        "create provision launch clone",
        "droplet droplets vm vms instance instances cluster clusters nodepool autoscaling",
        Kind::Pay,
    ),
];

pub(super) static PAIRS_IN_NAMES: LazyLock<Vec<(Set, Set, Kind)>> = LazyLock::new(|| sets(PAIRED_IN_NAMES));
/// The pairs as sets.
pub(super) static PAIRS: LazyLock<Vec<(Set, Set, Kind)>> = LazyLock::new(|| sets(PAIRED));

fn sets(pairs: &'static [(&str, &str, Kind)]) -> Vec<(Set, Set, Kind)> {
    pairs.iter().map(|(verbs, objects, kind)| (set(verbs), set(objects), *kind)).collect()
}

tables! {
    /// What may be taken away without a question: it holds nobody's work and is made again with one step.
    pub(super) TRIFLES = "draft drafts label labels tag tags reaction reactions star stars bookmark bookmarks highlight \
        highlights selection breakpoint breakpoints cache caches filter filters formatting format style styles vote votes like \
        likes favorite favorites favourite favourites watcher watchers reminder reminders emoji conditional tab tabs overlay \
        marker markers annotation annotations pin pins mark marks waypoint background whitespace duplicates watermark noise \
        stopwords outliers cart wishlist alias aliases link links association associations";
    /// Together with these, a word for sending says nothing to people: the argument tells what it is.
    pub(super) NOT_TO_PEOPLE = "request requests http query prompt keys key input signal command commands notification \
        notifications toast feedback event events text data packet bytes raw keystrokes control metrics logs log telemetry \
        beacon ping click touch archive trash backlog back api endpoint model llm";
    /// What may be executed without doing anything to the world.
    pub(super) HARMLESS_TO_RUN = "query queries search research read test tests lint analysis audit report check scan step plan \
        task tasks prompt thinking thought forecast simulation evaluation calculation template select";
    /// Files are transferred, and cost nothing.
    pub(super) NO_MONEY = "file files style styles asset assets data image photo issue issues ticket tickets task tasks \
        component components browser config";
}

/// Two words that are a noun, so that neither is a verb.
pub(super) const NOUNS: &[(&str, &str)] = &[
    ("pull", "request"),
    ("pull", "requests"),
    ("merge", "request"),
    ("merge", "requests"),
    ("make", "api"),
    ("read", "only"),
    ("look", "and"),
    ("open", "source"),
    ("post", "code"),
    ("check", "run"),
    ("check", "in"),
    ("test", "run"),
    ("dry", "run"),
];

static KNOWN: LazyLock<HashMap<&'static str, Verb>> = LazyLock::new(|| {
    let mut known = HashMap::new();
    for (table, sure) in [(OPEN, false), (SURE, true)] {
        for (kind, words) in table {
            for word in words.split_whitespace() {
                known.insert(word, Verb { kind: *kind, sure });
            }
        }
    }
    known
});

/// What a word says, in the form that names have.
pub(super) fn of(word: &str) -> Option<Verb> {
    KNOWN.get(word).copied()
}

/// The same of a word in a sentence: also in the third person, in the form with `-ing`, and with a capital letter.
pub(super) fn of_sentence(word: &str) -> Option<Verb> {
    if let Some(verb) = of(word) {
        return Some(verb);
    }
    let bases =
        [("ies", "y"), ("es", ""), ("es", "e"), ("s", ""), ("ing", ""), ("ing", "e"), ("ting", ""), ("ning", "")];
    bases.iter().find_map(|(ending, instead)| {
        let stem = word.strip_suffix(ending).filter(|stem| stem.len() >= 2)?;
        of(&format!("{stem}{instead}"))
    })
}

/// What text in a language without blanks says.
pub(super) fn within(text: &str) -> Option<Kind> {
    if text.is_ascii() {
        return None;
    }
    // Chinese says first what is done, Japanese and Korean say it last.
    // What is said to be carried out is a program or a deed; only of the first nobody knows what it does.
    const PROGRAMS: [&str; 20] = [
        "命令",
        "代码",
        "代碼",
        "脚本",
        "腳本",
        "程序",
        "程式",
        "工作流",
        "任务",
        "任務",
        "コマンド",
        "スクリプト",
        "コード",
        "プログラム",
        "ワークフロー",
        "명령",
        "스크립트",
        "코드",
        "프로그램",
        "워크플로",
    ];
    // Behind `and` stands what is done besides.
    const AND: [&str; 6] = ["并", "並", "然后", "然後", "再", "및"];
    let last = text.chars().any(|c| matches!(c, '\u{3040}'..='\u{30ff}' | '\u{ac00}'..='\u{d7af}'));
    let found = WITHIN.iter().flat_map(|(kind, words)| {
        words.split_whitespace().filter_map(move |word| {
            let at = if last { text.rfind(word) } else { text.find(word) };
            at.map(|at| (at, *kind))
        })
    });
    let found: Vec<(usize, Kind)> = found.collect();
    let besides = WITHIN.iter().filter(|(kind, _)| kind.is_grave() && *kind != Kind::Run).find_map(|(kind, words)| {
        let joined = |word: &str| AND.iter().any(|and| text.contains(&format!("{and}{word}")));
        words.split_whitespace().any(joined).then_some(*kind)
    });
    let told = if last { found.iter().max_by_key(|(at, _)| *at) } else { found.iter().min_by_key(|(at, _)| *at) };
    let told = besides.or_else(|| told.map(|(_, kind)| *kind))?;
    let carried_out = told == Kind::Run && !PROGRAMS.iter().any(|word| text.contains(word));
    Some(if carried_out { Kind::Manage } else { told })
}
