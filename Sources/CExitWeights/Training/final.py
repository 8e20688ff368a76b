import sys;sys.path.insert(0,'/work/wt/lab')
from labpy import *
import time
N0=load_net('weights_noline.txt');N1=load_net('weights_line.txt') if os.path.exists('weights_line.txt') else None
sy=holdout(60); sets={'synthetic hold-out, moving':[t for t in sy if t.cls=='m'],'synthetic hold-out, days':[t for t in sy if t.cls=='s'],'real (tracklib, sweat, gpxo, nmea)':real(),'the eight':eight()}
MU0=float(os.environ.get('MU0','18'));MU1=float(os.environ.get('MU1','26'))
fin=dict(gain=.5,e0=5400.,t0=1200.)
def run(tracks,kind,E4,pr,tag,noise,phi):
    lr=[];br=[];o=v=0;tb={};pe={E:[[],[]] for E in E4}
    for t in tracks:
        for E in E4:
            if not nontriv(t,E,pr,tag): continue
            net,pa,line=(None,params(heur=1),0) if kind=='EnTracked' else (None,params(heur=2),0) if kind=='EnTracked cautious' else (N0,params(mu=MU0,lam=70.,**fin),0) if kind=='planner' else (N1,params(mu=MU1,**fin),1)
            st=sim(t,E,pr,net,pa,line,*((2.5,120.,.15,4.) if noise else (0.,120.,0.,3.)),seed=(t.n*7+int(E))%99991,phi=phi)
            r=math.log(st.energy/t.optimum(E,pr,tag));b=100*st.outside/max(st.valid,1);lr.append(r);br.append(b);o+=st.outside;v+=st.valid
            q=tb.setdefault(t.name,[0,0]);q[0]+=st.outside;q[1]+=st.valid;pe[E][0].append(r);pe[E][1].append(b)
    w=max((100*q[0]/max(q[1],1),n) for n,q in tb.items())
    return math.exp(np.mean(lr)),np.mean(br),100*o/v,w,{E:(math.exp(np.mean(a)),np.mean(b)) for E,(a,b) in pe.items() if a},len(lr)
print('| set | TTF | fix noise | design | pairs | ratio | broken mean | pooled | worst track | E=50 | 100 | 200 | 500 |\n|---|---|---|---|---|---|---|---|---|---|---|---|---|')
for nm,S in sets.items():
    for tag,pr in (('A',PA),('B',PB)):
        for noise in (0,1):
            for kind in ('EnTracked','EnTracked cautious','planner','planner + line'):
                if 'line' in kind and N1 is None: continue
                r,b,p,w,pe,k=run(S,kind,(50,100,200,500),pr,tag,noise,PHI)
                print(f"| {nm} | {tag} | {'2.5 m' if noise else 'no'} | {kind} | {k} | {r:.3f} | {b:.2f} % | {p:.2f} % | {w[0]:.2f} % {w[1][:20]} | "+' | '.join(f"{pe[E][0]:.2f} @ {pe[E][1]:.2f}" if E in pe else '–' for E in (50,100,200,500))+' |',flush=True)
